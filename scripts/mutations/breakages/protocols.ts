// What the dialects and JSON-RPC below them do wrong.
import type { Breakage } from "../breakage.ts";

export const protocols: readonly Breakage[] = [
	{
		name: "a request is handled before the session has begun",
		file: "rpc/connection.ts",
		find: "if (this.#begun !== null) await this.#begun;\n\t\t\trespond(",
		replace: "respond(",
	},
	{
		name: "Kimi Wire delivers the session's own answer a second time, whole",
		file: "dialects/kimi/projection.ts",
		find: '"content.completed": deliveredOfSubagents,',
		replace: '"content.completed": delivered,',
	},
	{
		name: "Kimi Wire wraps the answer to a subagent's approval",
		file: "dialects/kimi/projection.ts",
		find: "...delivered({ ...event, agentPath: [] }, audience),",
		replace: "...delivered(event, audience),",
	},
	{
		name: "the version that brought something counts as one that lacks it",
		file: "messages/history.ts",
		find: "one[1] < other[1]",
		replace: "one[1] <= other[1]",
	},
	{
		name: "a cancelled step is delivered as interrupted",
		file: "messages/message-conversion.ts",
		find: 'reason === "error" ?',
		replace: 'reason !== "" ?',
	},
	{
		name: "a prompt is answered as finished when its turn was cancelled",
		file: "dialects/kimi/methods.ts",
		find: "return { status: outcome.status };",
		replace: 'return { status: "finished" };',
	},
	{
		name: "a request whose id is still open shares it",
		file: "dialects/event-pump.ts",
		find: "for (let n = 2; this.#peer.isWaiting(id); n += 1) id =",
		replace: "for (let n = 2; n < 2; n += 1) id =",
	},
	{
		name: "an answer by event leaves the request open for a second one",
		file: "dialects/event-pump.ts",
		find: "if (open === undefined || answer?.kind !== kind) return;\n\t\tthis.#forget(interactionId);",
		replace: "if (open === undefined || answer?.kind !== kind) return;",
	},
	{
		name: "a replay counts its requests among the events",
		file: "dialects/kimi/methods.ts",
		find: "counts.requests += 1;",
		replace: "counts.events += 1;",
	},
	{
		name: "legacy delivers the merged answer of the session's own agent",
		file: "dialects/legacy/projection.ts",
		find: "(agentPath.length === 0 ? merged : streamed)",
		replace: "(agentPath.length === 0 ? streamed : merged)",
	},
	{
		name: "legacy delivers a status without a context usage",
		file: "dialects/legacy/projection.ts",
		find: "context_usage === null ? null :",
		replace: "context_usage === undefined ? null :",
	},
	{
		name: "Meerkat counts the tokens of the last model call alone",
		file: "dialects/meerkat/projection/facts.ts",
		find: "usage: addUsage(facts.usage, body.token_usage)",
		replace: "usage: body.token_usage",
	},
	{
		name: "Meerkat numbers events from nought",
		file: "dialects/meerkat/hosted-session.ts",
		find: "sequence: this.#remembered.sequence + 1,",
		replace: "sequence: this.#remembered.sequence,",
	},
	{
		name: "Meerkat's first protocol gives the text of results",
		file: "dialects/meerkat/eras/seed.ts",
		find: "const { content: _, ...seed } = event;",
		replace: "const seed = event;",
	},
	{
		name: "Meerkat requests an approval before it has delivered the call",
		file: "dialects/meerkat/hosted-session.ts",
		find: "if (!this.#projection.isAnswering()) return [request];",
		replace: "if (this.#projection !== undefined) return [request];",
	},
	{
		name: "one request more than the limit is handled at once",
		file: "rpc/connection.ts",
		find: "this.#inFlight >= this.#maximumInFlight",
		replace: "this.#inFlight > this.#maximumInFlight",
	},
	{
		name: "the second reply to a request counts as well",
		file: "rpc/connection.ts",
		find: "this.#waiting.delete(id);\n\t\tonReply",
		replace: "onReply",
	},
];
