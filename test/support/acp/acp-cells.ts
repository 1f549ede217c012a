// What the golden transcripts of the Agent Client Protocol have to cover: its methods in each state, its updates, requests and
// errors.
import { errorNumbers } from "../../../src/dialects/acp/errors.ts";
import { acpProtocol } from "../../../src/dialects/acp/protocol.ts";
import { notificationSchemas, updateSchemas } from "../../../src/dialects/acp/wire-updates.ts";

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
