// The legacy dialect, described.
import { envelopeRules } from "../../src/dialects/legacy/envelope.ts";
import { errorNumbers } from "../../src/dialects/legacy/errors.ts";
import { legacyProtocol } from "../../src/dialects/legacy/protocol.ts";
import { partSchema, toolResultSchema } from "../../src/dialects/legacy/wire.ts";
import { numberedErrors, type ProtocolDescription, typedMessage } from "./description.ts";

const introduction = `
What \`kimi\` spoke before Kimi Wire: JSON-RPC 2.0, one JSON object a line, UTF-8, on stdin and stdout of \`agentwire --wire\`.
A connection speaks it when its first request is \`run\` or \`interrupt\`. The same as JSON Schema is in
[schema/legacy.json](../../schema/legacy.json).

\`\`\`
→ {"jsonrpc":"2.0","id":"1","method":"run","params":{"input":"Say hello"}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"step_begin","payload":{"n":1}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"content_part","payload":{"type":"text","text":"Hello."}}}
← {"jsonrpc":"2.0","id":"1","result":{"status":"finished"}}
\`\`\`

- **Ids** are strings. \`"jsonrpc":"2.0"\` must be there, and no key but those of JSON-RPC. \`params\` and \`result\` are objects.
- **What is wrong is met with silence**, but for unknown methods and unusable params of a request.
- **The client calls** [methods](#methods); **the server tells** [events](#events), notifications of the method \`event\`; **the
  server asks** by one kind of [request](#requests). The client replies with a result, or with an error.
- **What has no value is left out**; there is no null.
`;

const closing = `
## What it does not have

Turns are not marked by events: the answer to \`run\` is the end. There are no tools of the client's, no questions and no plan
mode. Events that this dialect has no word for are not told.
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
		run: "Runs a turn. The answer comes when it is over. One runs at a time. Without an id it does nothing.",
		"RunParams.input": "What the person says.",
		"RunParams.prompt": "The same, by another name; `input` goes first.",
		"RunResult.status": "How the turn ended.",
		"RunResult.steps": "How many steps there were.",
		interrupt: "Stops the running turn. Its answer comes before what it causes.",
		"InterruptResult.status": "Whether there was something to stop.",

		step_begin: "A model call begins, with the tools it will ask for.",
		"StepBegin.n": "Counts from 1 in each turn.",
		step_interrupted: "A step was interrupted or failed.",
		compaction_begin: "The conversation is being summarised to make room.",
		compaction_end: "Summarising is over, well or not.",
		status_update: "How full the context is. Only told when the provider counts tokens.",
		"StatusUpdate.context_usage": "Share of the context window in use.",
		content_part: "A piece of what the model says, as it streams.",
		tool_call: "The model calls a tool. More of the arguments may follow in `tool_call_part`.",
		"ToolCall.id": "Names the call.",
		"ToolCall.function": "What is called.",
		"ToolCall.function.name": "The tool.",
		"ToolCall.function.arguments": "JSON text, or its beginning.",
		"ToolCall.extras": "What the provider adds.",
		tool_call_part: "More argument text of the most recent `tool_call`.",
		"ToolCallPart.arguments_part": "To be appended.",
		tool_result: "A call is settled.",
		"ToolResult.tool_call_id": "The call.",
		"ToolResult.ok": "Whether it went well.",
		"ToolResult.result": "What came of it.",
		subagent_event: "An event of a subagent, in this dialect again. Deltas are merged.",
		"SubagentEvent.task_tool_call_id": "The call that started the subagent.",
		"SubagentEvent.event": "What it tells.",
		"SubagentEvent.event.type": "Its type.",
		"SubagentEvent.event.payload": "Its payload.",

		approval: "A tool wants to act and needs a person's consent. An error or an unusable answer counts as a refusal.",
		"Approval.id": "The same as the `id` of the line.",
		"Approval.tool_call_id": "The call that waits.",
		"Approval.sender": "The tool.",
		"Approval.action": "What kind of action it is: the key of an approval for the session.",
		"Approval.description": "What it would do, for the person.",
		"ApprovalResult.response": "This once, this and all of its kind in the session, or not.",

		"ContentPart.text": "The text.",
		"ContentPart.think": "A thought of the model.",
		"ContentPart.encrypted": "The provider's signature of it.",
		"ContentPart.image_url": "An image.",
		"ContentPart.image_url.url": "A URL; it may be a `data:` URL.",
		"ContentPart.image_url.id": "Tells images apart.",
		"ContentPart.audio_url": "Sound.",
		"ContentPart.audio_url.url": "A URL; it may be a `data:` URL.",
		"ContentPart.audio_url.id": "Tells sounds apart.",
		"ContentPart.video_url": "A video.",
		"ContentPart.video_url.url": "A URL; it may be a `data:` URL.",
		"ContentPart.video_url.id": "Tells videos apart.",
		ToolOutcome: "What came of a tool call.",
		"ToolOutcome.output": "The result, for the model. Text only, when the call failed.",
		"ToolOutcome.message": "What is to be said of it, for the model.",
		"ToolOutcome.brief": "One line for the person; may be empty.",

		"-32000": "A turn is running already, or there are too many requests at once.",
		"-32001": "No model is configured.",
		"-32002": "The model's provider failed.",
		"-32003":
			"The model cannot take in what a tool gave it, such as an image from an MCP server. What is sent is text, which every model takes in.",
		"-32099": "Something else went wrong.",
		"-32601": "There is no such method.",
		"-32602": "`input` and `prompt` are missing, or no text.",
	},
};
