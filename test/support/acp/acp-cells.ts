// What the golden transcripts of the Agent Client Protocol have to cover: its methods in each state, its updates, requests and
// errors.
import { errorNumbers } from "../../../src/frontends/acp/errors.ts";
import { acpProtocol } from "../../../src/frontends/acp/protocol.ts";
import { draftProtocol } from "../../../src/frontends/acp/v2/protocol.ts";
import { updateSchemas as draftUpdateSchemas } from "../../../src/frontends/acp/v2/wire-updates.ts";
import { notificationSchemas, updateSchemas } from "../../../src/frontends/acp/wire-updates.ts";

/** Before a session is open, while none is prompted, and while a prompt is not answered. */
const states = ["fresh", "idle", "turn"] as const;

/** Updates that are part of a conversation, and so of its replay. */
const replayed = [
	"user_message_chunk",
	"agent_message_chunk",
	"agent_thought_chunk",
	"tool_call",
	"tool_call_update",
	"plan",
	"usage_update",
] as const;

/** Sent after a sign-in, which no transcript can go through: `test/e2e/acp-editor.test.ts` shows it. */
const unserved: ReadonlySet<string> = new Set(["acp-notification elicitation/complete"]);

/** Every cell as `kind cell`. */
export function acpCells(methods: readonly string[]): readonly string[] {
	return [
		...methods.flatMap((method) => states.map((state) => `acp-state ${method}/${state}`)),
		...Object.keys(updateSchemas).map((name) => `acp-update ${name}`),
		...replayed.map((name) => `acp-replayed ${name}`),
		...Object.keys(notificationSchemas).map((name) => `acp-notification ${name}`),
		...Object.keys(acpProtocol.requests).map((name) => `acp-request ${name}`),
		...Object.values(errorNumbers).map((number) => `acp-error ${number}`),
	].filter((cell) => !unserved.has(cell));
}

/** Of version 2, what is the same as in version 1 and is shown there: reports of the server, and of compactions. */
const shownInVersion1: ReadonlySet<string> = new Set([
	"session_info_update",
	...Object.keys(updateSchemas).filter((name) => /compaction|notice|usage/.test(name)),
]);

/** Every cell of version 2, a draft, as `kind cell`. */
export function acpDraftCells(methods: readonly string[]): readonly string[] {
	return [
		...methods.map((method) => `acp-v2-method ${method}`),
		...Object.keys(draftUpdateSchemas)
			.filter((name) => !shownInVersion1.has(name))
			.map((name) => `acp-v2-update ${name}`),
		...Object.keys(draftProtocol.requests)
			.filter((name) => !name.startsWith("fs/"))
			.map((name) => `acp-v2-request ${name}`),
	];
}
