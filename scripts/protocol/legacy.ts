// The legacy dialect, described.
import { envelopeRules } from "../../src/frontends/legacy/envelope.ts";
import { errorNumbers } from "../../src/frontends/legacy/errors.ts";
import { legacyProtocol } from "../../src/frontends/legacy/protocol.ts";
import { partSchema, toolResultSchema } from "../../src/frontends/legacy/wire.ts";
import { numberedErrors, type ProtocolDescription, typedMessage } from "./description.ts";

const introduction = `
The predecessor of Kimi Wire, which earlier versions of \`kimi\` used: JSON-RPC 2.0, one JSON object per line, UTF-8, on stdin and stdout of
\`agentwire --wire\`. A connection uses it if its first request is \`run\` or \`interrupt\`.
[schema/legacy.json](../../../schema/legacy.json) has the same as JSON Schema.

\`\`\`
→ {"jsonrpc":"2.0","id":"1","method":"run","params":{"input":"Say hello"}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"step_begin","payload":{"n":1}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"content_part","payload":{"type":"text","text":"Hello."}}}
← {"jsonrpc":"2.0","id":"1","result":{"status":"finished"}}
\`\`\`

- **Ids** are strings. \`"jsonrpc":"2.0"\` is required, and only the keys of JSON-RPC are allowed.
- **Invalid lines get no answer**, except unknown methods and invalid params of a request.
- **The client calls** [methods](#methods); **the server sends** [events](#events), notifications of the method \`event\`, and one kind
  of [request](#requests). The client replies with a result or an error.
- **Fields without a value are absent**; there is no null.
`;

const closing = `
## What it does not have

No events mark the turns: the response to \`run\` is the end. There are no client tools, no questions and no plan mode. Events for
which this dialect has no message are not sent.
`;

export const legacy: ProtocolDescription = {
	name: "legacy",
	title: "The dialect before Kimi Wire",
	introduction,
	closing,
	protocol: legacyProtocol,
	carry: { event: typedMessage("event"), request: typedMessage("request") },
	rules: envelopeRules,
	errors: numberedErrors(envelopeRules, errorNumbers),
	errorData: null,
	values: { ContentPart: { schema: partSchema }, ToolOutcome: { schema: toolResultSchema } },
	sinceOf: null,
	texts: {
		run: "Runs a turn. The response comes when it is over. One turn runs at a time. Without an id it has no effect.",
		"RunParams.input": "The prompt.",
		"RunParams.prompt": "Another name for `input`, used if `input` is absent.",
		"RunResult.status": "How the turn ended.",
		"RunResult.steps": "Number of steps.",
		interrupt: "Cancels the running turn. The response comes before its effects.",
		"InterruptResult.status": "Whether a turn was running.",

		step_begin: "A step begins: a model call and the tool calls that it makes.",
		"StepBegin.n": "Counts from 1 in each turn.",
		step_interrupted: "A step was interrupted or failed.",
		compaction_begin: "The context is being compacted: a summary replaces its older part.",
		compaction_end: "The compaction is over, successfully or not.",
		status_update: "How full the context is. Only sent if the provider reports usage.",
		"StatusUpdate.context_usage": "Share of the context window in use.",
		content_part: "A piece of the model's output as it streams.",
		tool_call: "The model calls a tool. More of the arguments may follow in `tool_call_part`.",
		"ToolCall.id": "Id of the call.",
		"ToolCall.function": "The function called.",
		"ToolCall.function.name": "The tool.",
		"ToolCall.function.arguments": "JSON text, or the beginning of it.",
		"ToolCall.extras": "Data that the provider adds.",
		tool_call_part: "More argument text of the most recent `tool_call`.",
		"ToolCallPart.arguments_part": "Append it to the arguments.",
		tool_result: "A tool call is over.",
		"ToolResult.tool_call_id": "The call.",
		"ToolResult.ok": "Whether it succeeded.",
		"ToolResult.result": "The result.",
		subagent_event: "An event of a subagent, in the shapes of this dialect. Deltas are merged.",
		"SubagentEvent.task_tool_call_id": "The call that started the subagent.",
		"SubagentEvent.event": "The event.",
		"SubagentEvent.event.type": "Its type.",
		"SubagentEvent.event.payload": "Its payload.",

		approval: "A tool call needs a person's approval. An error or a malformed answer counts as a rejection.",
		"Approval.id": "The same as the `id` of the line.",
		"Approval.tool_call_id": "The call that waits for the answer.",
		"Approval.sender": "The tool.",
		"Approval.action": "The kind of action, for people. It says nothing about what an approval for the session covers.",
		"Approval.description": "What the call would do, for the person.",
		"ApprovalResult.response": "Approve this call, approve this and all of its kind in the session, or reject.",

		"ContentPart.text": "The text.",
		"ContentPart.think": "Reasoning of the model.",
		"ContentPart.encrypted": "The provider's signature of it.",
		"ContentPart.image_url": "An image.",
		"ContentPart.image_url.url": "A URL; it may be a `data:` URL.",
		"ContentPart.image_url.id": "Distinguishes images.",
		"ContentPart.audio_url": "Audio.",
		"ContentPart.audio_url.url": "A URL; it may be a `data:` URL.",
		"ContentPart.audio_url.id": "Distinguishes audio.",
		"ContentPart.video_url": "A video.",
		"ContentPart.video_url.url": "A URL; it may be a `data:` URL.",
		"ContentPart.video_url.id": "Distinguishes videos.",
		ToolOutcome: "The result of a tool call.",
		"ToolOutcome.output": "The result, for the model. Text only, when the call failed.",
		"ToolOutcome.message": "A remark on the result, for the model.",
		"ToolOutcome.brief": "One line for the person; may be empty.",

		"-32000": "A turn is running already, or too many requests are under way.",
		"-32001": "No model is configured.",
		"-32002": "The model's provider failed.",
		"-32003": "Not sent: prompts of this dialect are text, which every model supports.",
		"-32099": "Something else went wrong.",
		"-32601": "The method does not exist.",
		"-32602": "`input` and `prompt` are missing, or not text.",
	},
};
