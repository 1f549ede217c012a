// The texts of the document of the Agent Client Protocol for methods, values and errors, and for their fields. Fields that hold
// a constant need none.
import { requestTexts, updateTexts } from "./acp-message-texts.ts";

export const acpIntroduction = `
JSON-RPC 2.0, one JSON object per line, UTF-8, on stdin and stdout of \`agentwire acp\`. This is version 1 of the protocol as it is
served; the protocol itself is described on [agentclientprotocol.com](https://agentclientprotocol.com).
[schema/acp.json](../../../schema/acp.json) has the same as JSON Schema.

\`\`\`
→ {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
← {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":false,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":true},"sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{},"fork":{},"additionalDirectories":{}},"auth":{"logout":{}}},"agentInfo":{"name":"agentwire","title":"agentwire","version":"1.0.0"},"authMethods":[{"id":"login","name":"Sign in to Kimi","description":"Opens the sign-in page in a browser."}],"_meta":{"steering":{"supported":true},"rewind":{"supported":true}}}}
→ {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
← {"jsonrpc":"2.0","id":1,"result":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","modes":{"currentModeId":"default","availableModes":[]},"configOptions":[]}}
→ {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","prompt":[{"type":"text","text":"Say hello"}]}}
← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."},"messageId":"T-1"}}}
← {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
\`\`\`

- **Ids** of requests are strings or 64-bit integers, returned digit for digit; the server's own ids are strings. Client and server
  choose their ids independently. \`"jsonrpc":"2.0"\` is required. Batches and positional params are not supported.
- **The client calls** [methods](#methods), in any order; \`initialize\` says what it can do. Unknown params are ignored, and so is a
  notification of any other method. A request of any other method is refused.
- **The server sends** [events](#events): the updates of a session are notifications of the method \`session/update\` with \`sessionId\`
  and \`update\`, which has the name of the update as \`sessionUpdate\`. The last two are methods of their own.
- **The server requests** answers by [requests](#requests), each of them a method. The client replies with a result or an error. Only
  the first reply counts.
- **Paths** are absolute, and lines are counted from 1.
- **Further members** are only ever under \`_meta\` ([extensions](#extensions)).
`;

export const acpClosing = `
## Order

Updates of a session are sent in the order in which things happen, and all updates of a turn before the answer to its prompt. Nothing
about a session is sent before the client has its id: the commands follow the answer to \`session/new\`. \`session/load\` is answered
after everything that it replays. Requests about one session take effect in the order in which they arrive; sessions never wait for each
other, and answers come in the order in which the work is done. Several requests of the server may be open; they may be answered in any
order.

## Cancellation

\`session/cancel\` and \`$/cancel_request\` with the id of a prompt do the same: the model call and the tools are stopped, the calls
that were open are updated to \`failed\`, and then the prompt is answered with the stop reason \`cancelled\`, never with an error. A
cancellation that nothing is left for, of a session that nobody knows or of a request that was answered, has no effect. The server
withdraws a request of its own by \`$/cancel_request\` when it is settled otherwise: another client has answered it, its time is over, or
its turn was cancelled. A reply that comes later is ignored.

## Extensions

| Where | Meaning |
| --- | --- |
| method \`_session/steering\` | Gives the running turn further input; \`_meta.steering.supported\` in the answer to \`initialize\` says that it exists. |
| method \`_session/rewind\` | Goes back to before a turn, files included; \`_meta.rewind.supported\` in the answer to \`initialize\` says that it exists. |
| \`_meta.terminal_info\` of \`tool_call\` | A command, for a client that declared \`_meta.terminal_output\`: \`terminal_id\`, which its content names, and \`cwd\`. |
| \`_meta.terminal_output\` of \`tool_call_update\` | More output of that command: \`terminal_id\` and \`data\`. |
| \`_meta.terminal_exit\` of \`tool_call_update\` | The command has ended: \`terminal_id\`, \`exit_code\` and \`signal\`, null where it is not known. |
| \`_meta.agentwire\` of \`tool_call\` | A call of a subagent: \`parentToolCallId\` is the call that runs it, \`agentId\` and \`agent\` say which it is. |
| \`_meta.contextCompaction\` of \`tool_call\` and \`tool_call_update\` | The context is compacted, for a client that did not declare \`session.compaction\`. |
`;

const ignoredMeta = (...shapes: readonly string[]): Readonly<Record<string, string>> =>
	Object.fromEntries(shapes.map((shape) => [`${shape}._meta`, "Ignored."]));

const annotated = (...shapes: readonly string[]): Readonly<Record<string, string>> =>
	Object.fromEntries(shapes.map((shape) => [`${shape}.annotations`, "Ignored."]));

const opening = (name: string): Readonly<Record<string, string>> => ({
	[`${name}Params.cwd`]: "The work directory.",
	[`${name}Params.additionalDirectories`]: "Further directories that the agent may work in.",
	[`${name}Params.mcpServers`]:
		"MCP servers of this session, besides those of the settings. One of the same name replaces that of the settings.",
	[`${name}Result.modes`]: "The modes, and the one that the session is in.",
	[`${name}Result.configOptions`]: "The same choice and others, as configuration options: most important first.",
});

const methods = {
	initialize: `Says what client and server can do. A client that asks for another version than 1 is answered with 1, and decides whether it goes on.
It may be sent again; what it declares then holds for the sessions that are opened afterwards.`,
	"InitializeParams.protocolVersion": "The latest version that the client speaks.",
	"InitializeParams.clientCapabilities": "What the client can do.",
	"InitializeParams.clientInfo": "Who the client is: `name`, `title` and `version`.",
	"InitializeResult.agentCapabilities": "What the server can do.",
	"InitializeResult.agentCapabilities.promptCapabilities": "What a prompt may contain besides text and links.",
	"InitializeResult.agentCapabilities.promptCapabilities.image": "Whether the model takes images.",
	"InitializeResult.agentCapabilities.promptCapabilities.audio": "Whether the model takes audio.",
	"InitializeResult.agentCapabilities.mcpCapabilities": "Kinds of MCP servers, besides those that are commands.",
	"InitializeResult.agentCapabilities.sessionCapabilities": "Methods that are served.",
	"InitializeResult.agentCapabilities.sessionCapabilities.list": "`session/list`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.resume": "`session/resume`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.close": "`session/close`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.delete": "`session/delete`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.fork": "`session/fork`, which is not part of version 1 yet.",
	"InitializeResult.agentCapabilities.sessionCapabilities.additionalDirectories":
		"`additionalDirectories` of the methods that open a session.",
	"InitializeResult.agentCapabilities.auth": "About signing in.",
	"InitializeResult.agentCapabilities.auth.logout": "`logout`.",
	"InitializeResult.agentInfo": "Who the server is.",
	"InitializeResult.agentInfo.name": "Its name.",
	"InitializeResult.agentInfo.title": "Its name for people.",
	"InitializeResult.agentInfo.version": "Its version.",
	"InitializeResult.authMethods": "The ways to sign in. There is always one, also when nobody needs to sign in.",
	"InitializeResult._meta":
		"`steering` says that [`_session/steering`](#_sessionsteering) is served, and `rewind` that [`_session/rewind`](#_sessionrewind) is.",
	authenticate: `Signs in, by a method that \`initialize\` has named. A client that opens addresses is requested to open the sign-in page; for other
clients it only checks whether there is a model by now, and fails when there is none. May be withdrawn.`,
	"AuthenticateParams.methodId": "The `id` of the method.",
	logout: "Signs out: deletes the stored credentials.",
	"session/new": `Creates a session, which is stored: a later process can load it, prompted or not. Nothing is sent about it before the answer; the commands follow. Without a usable model it fails with the number
for signing in.`,
	...opening("SessionNew"),
	"SessionNewResult.sessionId": "The id of the session.",
	"session/load": `Opens a stored session, and sends its whole conversation before the answer: messages, reasoning, tool calls with their results,
plans. A session of any other front end can be loaded. One that is open already is sent anew, and what runs in it goes on.`,
	"SessionLoadParams.sessionId": "The session.",
	...opening("SessionLoad"),
	"session/resume": "Opens a stored session, and sends nothing of its conversation.",
	"SessionResumeParams.sessionId": "The session.",
	...opening("SessionResume"),
	"session/list":
		"Lists the stored sessions, those of other front ends and those without a prompt included; the latest first, 50 at a time.",
	"SessionListParams.cwd": "Only those of this work directory.",
	"SessionListParams.cursor": "The `nextCursor` of an earlier answer; another one is refused.",
	"SessionListResult.sessions": "The sessions.",
	"SessionListResult.nextCursor": "Where to go on; absent when there are no more.",
	"session/delete":
		"Deletes a session for good. What runs in it is cancelled first. One that does not exist is deleted already.",
	"SessionDeleteParams.sessionId": "The session.",
	"session/close":
		"Cancels the session's work and releases its resources. The session stays stored and can be loaded again; an unused session is deleted.",
	"SessionCloseParams.sessionId": "The session.",
	"session/fork": `Opens a copy of a session as a session of its own, without sending its conversation. Not part of version 1 yet. It has the
conversation, the plan and the creation options of the session; what was approved for the session is asked again. Refused while a turn
runs in the session.`,
	"SessionForkParams.sessionId": "The session to copy.",
	"SessionForkParams.cwd": "The work directory of that session; another one is refused.",
	"SessionForkParams.additionalDirectories": "All further roots of the new session.",
	"SessionForkParams.mcpServers": "As in `session/new`.",
	"SessionForkParams.systemPrompt": "Not supported: null, or left out.",
	"SessionForkResult.sessionId": "The new session.",
	"SessionForkResult.modes": "As in `session/new`.",
	"SessionForkResult.configOptions": "As in `session/new`.",
	"session/prompt": `Runs a turn. The answer comes when the turn is over, after all its updates. A prompt that comes while one runs waits for it; a side
question (\`/btw\`) is answered while it runs. A text that begins with a [slash command](../commands.md) runs that command. May be
withdrawn, which is the same as \`session/cancel\`.`,
	"SessionPromptParams.sessionId": "The session, which is loaded if necessary.",
	"SessionPromptParams.prompt": "What the person says, one block or more.",
	"SessionPromptResult.stopReason": `Why the turn is over: \`end_turn\` when the agent has answered, also after a person has rejected a call; \`max_tokens\` when the
answer reached a token limit or the [budget](../../guides/budgets.md) of tokens is used up; \`max_turn_requests\` when another budget is, or the steps of a turn; \`cancelled\`. A turn that
fails is answered with an error.`,
	"session/cancel":
		"Cancels the prompts of a session: the one that runs, and those that wait. See [Cancellation](#cancellation).",
	"SessionCancelParams.sessionId": "The session.",
	"session/set_mode": "Sets the mode of a session, at any time; a running turn goes on in it.",
	"SessionSetModeParams.sessionId": "The session.",
	"SessionSetModeParams.modeId": "The `id` of a mode.",
	"session/set_config_option": "Sets an option of a session, at any time. A model answers from the next prompt on.",
	"SessionSetConfigOptionParams.sessionId": "The session.",
	"SessionSetConfigOptionParams.configId": "The `id` of an option.",
	"SessionSetConfigOptionParams.value": "The `value` of one of its choices; of a `boolean` option true or false.",
	"SessionSetConfigOptionResult.configOptions": "All options as they are now.",
	"_session/steering": `Gives the running turn further input, which the agent reads before its next model call. It is then sent as \`user_message_chunk\`,
where it belongs in the conversation.`,
	"SessionSteeringParams.sessionId": "The session.",
	"SessionSteeringParams.prompt": "What the person says.",
	"SessionSteeringResult.outcome": "`injected`, or `promptRequired` when no turn runs: a prompt is needed.",
	"_session/rewind": `Goes back to before a turn: its files, the conversation, or both. Call it with \`dryRun\` first and show the plan. No update is sent:
load the session again to show the conversation. Fails while a turn runs.`,
	"SessionRewindParams.sessionId": "The session.",
	"SessionRewindParams.messageId": "The id of any message of the turn, or of an earlier restore, to undo it.",
	"SessionRewindParams.files": "Whether to restore the files; true by default.",
	"SessionRewindParams.conversation": "Whether to cut the conversation; true by default.",
	"SessionRewindParams.conflicts":
		"What to do if the session did not leave a file as it is now: `stop` changes nothing at all (the default), `skip` leaves the file, `take` restores it too.",
	"SessionRewindParams.dryRun": "Only says what would be done; false by default.",
	"SessionRewindResult.plan":
		"What is to be done with the files, as [`files.plan`](gateway.md#filesplan) of the gateway has it; null without `files`.",
	"SessionRewindResult.files":
		"What was done with the files, as [`files.restore`](gateway.md#filesrestore) of the gateway has it; null for a dry run and without `files`.",
	"SessionRewindResult.messages":
		"Messages that the conversation has now; null for a dry run and without `conversation`.",
	"$/cancel_request": `Withdraws a request, of either side. A request of the client is still answered: a prompt with the stop reason \`cancelled\`, any
other that can be withdrawn (\`session/load\`, \`session/resume\`, \`authenticate\`) with the error -32800. Others are not affected.`,
	"CancelRequestParams.requestId": "The `id` of the request.",
} as const;

const namedValue = (field: string, of: string): Readonly<Record<string, string>> => ({
	[`${field}[].name`]: `Name of ${of}.`,
	[`${field}[].value`]: "Its value.",
	[`${field}[]._meta`]: "Ignored.",
});

const values = {
	ClientCapabilities:
		"What the client can do. An empty object means yes where an object stands; what is not as described means no.",
	"ClientCapabilities.fs":
		"Files as the client has them, unsaved changes included. They are used for files within the directories of the session.",
	"ClientCapabilities.fs.readTextFile": "True when `fs/read_text_file` is answered.",
	"ClientCapabilities.fs.writeTextFile": "True when `fs/write_text_file` is answered.",
	"ClientCapabilities.terminal": "Not used: commands run in the server's own [sandbox](../../guides/sandbox.md).",
	"ClientCapabilities.session": "What is understood of a session.",
	"ClientCapabilities.session.compaction": "An object when `compaction_update` is understood.",
	"ClientCapabilities.session.notices": "An object when `notice` is understood.",
	"ClientCapabilities.session.configOptions": "Kinds of configuration options, besides `select`.",
	"ClientCapabilities.session.configOptions.boolean": "An object when options of the type `boolean` are understood.",
	"ClientCapabilities.auth": "About signing in.",
	"ClientCapabilities.auth.terminal": "True when a sign-in in a terminal is possible.",
	"ClientCapabilities.elicitation": "What people can be asked for.",
	"ClientCapabilities.elicitation.form": "An object when forms are shown.",
	"ClientCapabilities.elicitation.url": "An object when addresses are opened.",
	"ClientCapabilities._meta": "[Extensions](#extensions).",
	"ClientCapabilities._meta.terminal_output": "True when the output of commands is shown as it comes.",
	"ClientCapabilities._meta.terminal-auth": "The earlier form of `auth.terminal`.",
	AuthMethod: "A way to sign in.",
	"AuthMethod.id": "What `authenticate` names it by.",
	"AuthMethod.name": "Its name for people.",
	"AuthMethod.description": "What happens.",
	"AuthMethod.args":
		"Of a sign-in in a terminal: the arguments to run this program with. It is signed in when it ends with 0.",
	"AuthMethod._meta": "Not used.",
	StdioServer: "An MCP server that is a command.",
	"StdioServer.name": "Its name.",
	"StdioServer.command": "The program.",
	"StdioServer.args": "Its arguments.",
	"StdioServer.env": "Variables of its environment.",
	...namedValue("StdioServer.env", "the variable"),
	RemoteServer: "An MCP server at an address.",
	"RemoteServer.type": "How it is spoken to: Streamable HTTP, or the transport before it.",
	"RemoteServer.name": "Its name.",
	"RemoteServer.url": "Its address.",
	"RemoteServer.headers": "Headers of each HTTP request.",
	...namedValue("RemoteServer.headers", "the header"),
	Modes: "What the agent may do without asking.",
	"Modes.currentModeId": "The mode that the session is in.",
	"Modes.availableModes": "All modes: `default`, `plan`, `auto` and `yolo`.",
	Mode: "A mode.",
	"Mode.id": "What it is set by.",
	"Mode.name": "Its name for people.",
	"Mode.description": "What it means.",
	ConfigOption:
		"Something that a person may choose for a session. `mode`, `model` and `thinking` exist, each where there is a choice.",
	"ConfigOption.id": "What it is set by.",
	"ConfigOption.name": "Its name for people.",
	"ConfigOption.description": "What it means.",
	"ConfigOption.category": "What it is about: `mode`, `model` or `thought_level`.",
	"ConfigOption.currentValue": "What is chosen.",
	"ConfigOption.options": "What can be chosen.",
	Choice: "One value of an option.",
	"Choice.value": "What it is set by.",
	"Choice.name": "Its name for people.",
	"Choice.description": "What it means.",
	SessionInfo: "A stored session.",
	"SessionInfo.sessionId": "Its id.",
	"SessionInfo.cwd": "Its work directory.",
	"SessionInfo.title": "What it is about.",
	"SessionInfo.updatedAt": "When it was last used (ISO 8601).",
	ContentBlock: "A piece of content. A resource is only ever sent by the client.",
	TextBlock: "Text, as Markdown.",
	"TextBlock.text": "The text.",
	ImageBlock: "An image.",
	"ImageBlock.data": "Its bytes as Base64.",
	"ImageBlock.mimeType": "Its type.",
	"ImageBlock.uri": "Ignored.",
	AudioBlock: "Audio.",
	"AudioBlock.data": "Its bytes as Base64.",
	"AudioBlock.mimeType": "Its type.",
	ResourceLink:
		"Something that is named, not included. The model gets its path or address, and may read it with its tools.",
	"ResourceLink.uri": "Its address.",
	"ResourceLink.name": "Its name.",
	"ResourceLink.title": "Ignored.",
	"ResourceLink.description": "Given to the model.",
	"ResourceLink.mimeType": "Ignored.",
	"ResourceLink.size": "Ignored.",
	ResourceBlock: "Something that is included. Of what is no text only images and audio can be part of a prompt.",
	"ResourceBlock.resource": "The content.",
	TextResource: "A text with an address.",
	"TextResource.uri": "Its address.",
	"TextResource.text": "The text.",
	"TextResource.mimeType": "Ignored.",
	BlobResource: "Bytes with an address.",
	"BlobResource.uri": "The address.",
	"BlobResource.blob": "The bytes as Base64.",
	"BlobResource.mimeType": "Their type.",
	ToolContent: "What is shown of a tool call: text or media, the change of a file, or a terminal.",
	"ToolContent.content": "The text or media.",
	"ToolContent.path": "The file.",
	"ToolContent.oldText": "The text that is replaced; null when there was none.",
	"ToolContent.newText": "The text that replaces it.",
	"ToolContent.terminalId": "The `terminal_id` under which output follows.",
	CallMeta: "What the protocol has no members for ([extensions](#extensions)).",
	"CallMeta.terminal_info": "A terminal that shows the output of the call.",
	"CallMeta.terminal_info.terminal_id": "Its id.",
	"CallMeta.terminal_info.cwd": "The work directory.",
	"CallMeta.terminal_output": "More output of the call.",
	"CallMeta.terminal_output.terminal_id": "The terminal.",
	"CallMeta.terminal_output.data": "The output that is new.",
	"CallMeta.terminal_exit": "The command has ended.",
	"CallMeta.terminal_exit.terminal_id": "The terminal.",
	"CallMeta.terminal_exit.exit_code": "Its exit code; null where it is not known.",
	"CallMeta.terminal_exit.signal": "The signal that has ended it, such as `SIGKILL`.",
	"CallMeta.agentwire": "Of a call that a subagent makes.",
	"CallMeta.agentwire.parentToolCallId": "The call that runs the subagent.",
	"CallMeta.agentwire.agentId": "Id of the subagent.",
	"CallMeta.agentwire.agent": "Its type.",
	"CallMeta.contextCompaction": "Of a call that is a compaction.",
	"CallMeta.contextCompaction.version": "Version of this member.",
	Location: "A place that a call is about.",
	"Location.path": "The file or directory.",
	"Location.line": "The line.",
	PlanEntry: "Something to do.",
	"PlanEntry.content": "The text.",
	"PlanEntry.priority": "Always `medium`: there is no order of importance.",
	"PlanEntry.status": "The progress of the change.",
	Command: "A slash command.",
	"Command.name": "Its name, without the slash.",
	"Command.description": "What it does.",
	"Command.input": "What may follow the name.",
	"Command.input.hint": "What to write there.",
	PermissionOutcome: "What came of a request.",
	"PermissionOutcome.optionId":
		"The `optionId` that was chosen. `approve_once`, `approve_always` and `reject_once` are understood as well. An id that stands for nothing rejects.",
	PermissionOption: "One way to decide.",
	"PermissionOption.optionId": "What it is chosen by.",
	"PermissionOption.name": "Its name for people. It says what an approval for the session covers.",
	"PermissionOption.kind": "What it means, for colors and keys.",
	FormProperty: "A field of a form: text, one of several, or some of several. None is required.",
	"FormProperty.title": "The question.",
	"FormProperty.description": "More about it.",
	"FormProperty.oneOf": "The options, of which one may be chosen.",
	...choiceTexts("FormProperty.oneOf[]"),
	"FormProperty.items": "The options, of which several may be chosen.",
	"FormProperty.items.anyOf": "The options.",
	...choiceTexts("FormProperty.items.anyOf[]"),
} as const;

function choiceTexts(field: string): Readonly<Record<string, string>> {
	return {
		[`${field}.const`]: "The value that answers.",
		[`${field}.title`]: "Its name for people.",
		[`${field}.description`]: "What it means.",
	};
}

const errors = {
	"-32700": "The line is not JSON, or is longer than 100 MiB. The id is null.",
	"-32600":
		"The line is JSON but no request, or one with the id null; or the request does not fit the state of the session: nothing to sign out of, no plan mode.",
	"-32601": "The method does not exist.",
	"-32602":
		"The params do not fit the method: a field is missing, or a mode, an option, a model, a cursor or a sign-in does not exist.",
	"-32603":
		"The model's provider failed, the store failed, too much is under way, or an internal error, whose cause is in the server's log.",
	"-32000": "No model is usable, or the sign-in has expired: editors show the sign-in.",
	"-32002": "There is no such session.",
	"-32800": "The client has withdrawn the request.",
	"ErrorData.details": "The message, which editors show from here.",
} as const;

export const acpTexts: Readonly<Record<string, string>> = {
	...ignoredMeta(
		...["InitializeParams", "AuthenticateParams", "SessionNewParams", "SessionLoadParams", "SessionResumeParams"],
		"SessionForkParams",
		...["SessionListParams", "SessionDeleteParams", "SessionCloseParams", "SessionPromptParams", "SessionCancelParams"],
		...["SessionSetModeParams", "SessionSetConfigOptionParams", "SessionSteeringParams", "SessionRewindParams"],
		"CancelRequestParams",
		...["StdioServer", "RemoteServer", "TextBlock", "ImageBlock", "AudioBlock", "ResourceLink", "ResourceBlock"],
		...["TextResource", "BlobResource"],
	),
	...annotated("TextBlock", "ImageBlock", "AudioBlock", "ResourceLink", "ResourceBlock"),
	...methods,
	...updateTexts,
	...requestTexts,
	...values,
	...errors,
};
