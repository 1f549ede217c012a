// The dialects of many sessions, each loaded when it is offered.
import type { ContractVersion } from "../../base/contract-version.ts";
import type { CodexPlace } from "../codex/threads.ts";
import type { Realm } from "../meerkat/realm/realm.ts";
import type { HostDialect } from "../shared/dialect.ts";

/** The settings of the dialects that are offered. */
export interface OfferSettings {
	/** The version of Meerkat's contract. */
	readonly contract: ContractVersion;
	/** The realm of Meerkat's sessions; null for none. */
	readonly realm: Realm | null;
	/** What clients of Codex are told. */
	readonly codex: CodexPlace;
}

type LoadDialects = (settings: OfferSettings) => Promise<readonly HostDialect[]>;

const acp = async () => (await import("../acp/dialect.ts")).acpDialect;
const acpDraft = () => import("../acp/v2/dialect.ts");

/** What can be offered, the dialects of each in the order in which they may claim the first message. */
export const hostOffers = {
	stdio: async () => [(await import("../stdio/dialect.ts")).stdioDialect],
	meerkat: async ({ contract, realm }) => [
		(await import("../meerkat/dialect.ts")).createMeerkatDialect(contract, realm),
	],
	codex: async ({ codex }) => [(await import("../codex/dialect.ts")).createCodexDialect(codex)],
	"acp-1": async () => [await acp()],
	"acp-2": async () => [(await acpDraft()).onlyDraftDialect],
	"acp-auto": async () => [(await acpDraft()).draftDialect, await acp()],
} as const satisfies Readonly<Record<string, LoadDialects>>;

export type HostOfferName = keyof typeof hostOffers;
