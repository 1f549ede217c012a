import type { ContractVersion } from "../../base/contract-version.ts";
import type { CodexPlace } from "../codex/threads.ts";
import type { Realm } from "../meerkat/realm/realm.ts";
import type { HostDialect } from "../shared/dialect.ts";

export interface OfferSettings {
	readonly contract: ContractVersion;
	readonly realm: Realm | null;
	readonly codex: CodexPlace;
}

type LoadDialects = (settings: OfferSettings) => Promise<readonly HostDialect[]>;

const acp = async () => (await import("../acp/dialect.ts")).acpDialect;
const acpDraft = () => import("../acp/v2/dialect.ts");

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
