// What the golden transcripts have to cover, taken from the tables of the product where it has them and from the
// proofs, written from the protocol text, where it does not. The gate compares it with the `covers:` marks.

import { operations } from "../../../src/api/operations.ts";
import { messageDeclarations } from "../../../src/formats/message.ts";
import { claudeProtocol } from "../../../src/frontends/claude/protocol.ts";
import { execEventSchemas } from "../../../src/frontends/codex/exec-events.ts";
import { codexProtocol } from "../../../src/frontends/codex/protocol.ts";
import { errorNumbers as kimiErrors } from "../../../src/frontends/kimi/errors.ts";
import { olderEvents } from "../../../src/frontends/kimi/protocol.ts";
import { errorNumbers as legacyErrors } from "../../../src/frontends/legacy/errors.ts";
import { legacyProtocol } from "../../../src/frontends/legacy/protocol.ts";
import { acpCells, acpDraftCells } from "../acp/acp-cells.ts";
import { meerkatCells } from "../meerkat/meerkat-cells.ts";
import { proofs } from "./evidence/rules.ts";

const states = { kimi: ["idle", "turn", "replay"], legacy: ["idle", "running"] } as const;

/** Every cell as `kind cell`; `methods` are those of the product's method tables. */
export function requiredCells(methods: {
	readonly kimi: readonly string[];
	readonly legacy: readonly string[];
	readonly meerkat: readonly string[];
	readonly acp: readonly string[];
	readonly acpDraft: readonly string[];
}): ReadonlySet<string> {
	const messages = Object.keys(messageDeclarations);
	return new Set([
		...methods.kimi.flatMap((method) => states.kimi.map((state) => `state ${method}/${state}`)),
		...methods.legacy.flatMap((method) => states.legacy.map((state) => `legacy-state ${method}/${state}`)),
		...all("event", [...messages, ...Object.keys(olderEvents)]),
		...all("replayed", messages),
		...all("error", kimiErrorCells()),
		...all("legacy-event", [...Object.keys(legacyProtocol.events), ...Object.keys(legacyProtocol.requests)]),
		// Prompts of this dialect are text, which every model supports.
		...all("legacy-error", [...numbers(legacyErrors).filter((number) => number !== "-32003"), "-32601"]),
		...Object.entries(proofs).flatMap(([kind, cells]) => all(kind, Object.keys(cells))),
		...meerkatCells(methods.meerkat),
		...acpCells(methods.acp),
		...acpDraftCells(methods.acpDraft),
		...all("claude-control", Object.keys(claudeProtocol.methods)),
		...all("codex-method", Object.keys(codexProtocol.methods)),
		...all("codex-exec-event", Object.keys(execEventSchemas).filter(isShownByTurns)),
		...all("gateway-method", stableOperations()),
	]);
}

/** The event `error` is sent only for a failure outside a turn, which no script can cause. */
const isShownByTurns = (event: string): boolean => event !== "error";

function stableOperations(): string[] {
	return Object.entries(operations).flatMap(([name, { stability }]) => (stability === "stable" ? [name] : []));
}

/** The wrong-state number and the envelope number have several texts, each a cell of its own (§1.7). */
function kimiErrorCells(): string[] {
	const texts: Readonly<Record<string, readonly string[]>> = {
		"-32000": ["-32000/busy", "-32000/no-turn"],
		"-32600": ["-32600/request", "-32600/response"],
	};
	const codes = [...numbers(kimiErrors), "-32700", "-32600", "-32601"];
	return codes.flatMap((number) => texts[number] ?? [number]);
}

function numbers(table: Readonly<Record<string, { readonly code: number }>>): string[] {
	return [...new Set(Object.values(table).map(({ code }) => String(code)))];
}

function all(kind: string, cells: readonly string[]): string[] {
	return cells.map((cell) => `${kind} ${cell}`);
}
