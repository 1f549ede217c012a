// The texts of the document of the Agent Client Protocol for methods, values and errors, and for their fields. Fields that hold
// a constant need none.
import { requestTexts, updateTexts } from "./messages.texts.ts";

export const acpIntroduction = `
JSON-RPC 2.0, one JSON object per line, UTF-8, on stdin and stdout of \`agentwire acp\`. This is version 1 of the protocol as
served here; the protocol itself is described on [agentclientprotocol.com](https://agentclientprotocol.com).
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
- **The client calls** [methods](#methods), in any order; \`initialize\` says what it can do. Unknown params and notifications with
  any other method are ignored. Requests with any other method are refused.
- **The server sends** [events](#events): the updates of a session are notifications of the method \`session/update\` with \`sessionId\`
  and \`update\`, whose \`sessionUpdate\` names the update. The last two are separate methods.
- **The server sends** [requests](#requests), each a method. The client replies with a result or an error. Only the first reply counts.
- **Paths** are absolute, and lines are counted from 1.
- **Additional members** are always under \`_meta\` ([extensions](#extensions)).
`;

export const acpClosing = `
## Order

Updates of a session are sent in the order in which things happen, all updates of a turn before the response to its prompt. Nothing
about a session is sent before the client has its id: the commands follow the answer to \`session/new\`. \`session/load\` is answered
after everything that it replays. Requests about one session take effect in the order in which they arrive; sessions never wait for each
other, and responses come in the order in which the work is done. Several requests of the server may be open; they may be answered in any
order.

## Cancellation

\`session/cancel\` and \`$/cancel_request\` with the id of a prompt do the same: the model call and the tools are stopped, open calls
are updated to \`failed\`, and then the prompt is answered with the stop reason \`cancelled\`, never with an error. Cancelling an
unknown session or a request that was already answered has no effect. The server withdraws its own request with
\`$/cancel_request\` when something else settles it: another client's answer, its deadline, or the end of its turn. Later replies are
ignored.

## Extensions

| Where | Meaning |
| --- | --- |
| method \`_session/steering\` | Adds input to the running turn; \`_meta.steering.supported\` in the response to \`initialize\` announces it. |
| method \`_session/rewind\` | Rewinds to before a turn, files included; \`_meta.rewind.supported\` in the response to \`initialize\` announces it. |
| \`_meta.terminal_info\` of \`tool_call\` | A command, for clients that declared \`_meta.terminal_output\`: the \`terminal_id\` that its content names, and \`cwd\`. |
| \`_meta.terminal_output\` of \`tool_call_update\` | More output of that command: \`terminal_id\` and \`data\`. |
| \`_meta.terminal_exit\` of \`tool_call_update\` | The command has ended: \`terminal_id\`, \`exit_code\` and \`signal\`, null if unknown. |
| \`_meta.agentwire\` of \`tool_call\` | A call of a subagent: \`parentToolCallId\` is the call that runs it, \`agentId\` and \`agent\` identify it. |
| \`_meta.contextCompaction\` of \`tool_call\` and \`tool_call_update\` | The context is compacted, for clients that did not declare \`session.compaction\`. |
`;

const ignoredMeta = (...shapes: readonly string[]): Readonly<Record<string, string>> =>
	Object.fromEntries(shapes.map((shape) => [`${shape}._meta`, "Ignored."]));

const annotated = (...shapes: readonly string[]): Readonly<Record<string, string>> =>
	Object.fromEntries(shapes.map((shape) => [`${shape}.annotations`, "Ignored."]));

const opening = (name: string): Readonly<Record<string, string>> => ({
	[`${name}Params.cwd`]: "The work directory.",
	[`${name}Params.additionalDirectories`]: "Additional directories that the agent may work in.",
	[`${name}Params.mcpServers`]:
		"MCP servers of this session, in addition to those in the settings. One with the same name replaces the one in the settings.",
	[`${name}Result.modes`]: "The available modes and the current one.",
	[`${name}Result.configOptions`]: "Modes and other choices as configuration options, most important first.",
});

const methods = {
	initialize: `Exchanges what client and server support. The response always names version 1; a client that asked for another decides whether to
continue. It may be sent again; the new declarations apply to sessions opened afterwards.`,
	"InitializeParams.protocolVersion": "The latest version that the client supports.",
	"InitializeParams.clientCapabilities": "What the client supports.",
	"InitializeParams.clientInfo": "The client: `name`, `title` and `version`.",
	"InitializeResult.agentCapabilities": "What the server supports.",
	"InitializeResult.agentCapabilities.promptCapabilities": "What a prompt may contain besides text and links.",
	"InitializeResult.agentCapabilities.promptCapabilities.image": "Whether the model takes images.",
	"InitializeResult.agentCapabilities.promptCapabilities.audio": "Whether the model takes audio.",
	"InitializeResult.agentCapabilities.mcpCapabilities": "Kinds of MCP servers, in addition to commands.",
	"InitializeResult.agentCapabilities.sessionCapabilities": "The methods served.",
	"InitializeResult.agentCapabilities.sessionCapabilities.list": "`session/list`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.resume": "`session/resume`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.close": "`session/close`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.delete": "`session/delete`.",
	"InitializeResult.agentCapabilities.sessionCapabilities.fork": "`session/fork`, which is not part of version 1 yet.",
	"InitializeResult.agentCapabilities.sessionCapabilities.additionalDirectories":
		"`additionalDirectories` of the methods that open a session.",
	"InitializeResult.agentCapabilities.auth": "About signing in.",
	"InitializeResult.agentCapabilities.auth.logout": "`logout`.",
	"InitializeResult.agentInfo": "The server.",
	"InitializeResult.agentInfo.name": "Its name.",
	"InitializeResult.agentInfo.title": "Its name for people.",
	"InitializeResult.agentInfo.version": "Its version.",
	"InitializeResult.authMethods": "The ways to sign in. There is always one, even if nobody needs to sign in.",
	"InitializeResult._meta":
		"`steering` says that [`_session/steering`](#_sessionsteering) is served, and `rewind` that [`_session/rewind`](#_sessionrewind) is.",
	authenticate: `Signs in with a method from \`initialize\`. A client that opens addresses is asked to open the sign-in page; for other clients it only
checks whether there is a model by now, and fails if there is none. May be withdrawn.`,
	"AuthenticateParams.methodId": "The `id` of the method.",
	logout: "Signs out: deletes the stored credentials.",
	"session/new": `Creates a session and stores it: a later process can load it, prompted or not. Nothing about it is sent before the response; the commands
follow. Without a usable model it fails with the error for signing in.`,
	...opening("SessionNew"),
	"SessionNewResult.sessionId": "The id of the session.",
	"session/load": `Opens a stored session and sends its whole conversation before the response: messages, reasoning, tool calls with their results, plans.
Sessions of any other front end can be loaded. A session that is already open is sent again, and its running turn continues.`,
	"SessionLoadParams.sessionId": "The session.",
	...opening("SessionLoad"),
	"session/resume": "Opens a stored session without sending its conversation.",
	"SessionResumeParams.sessionId": "The session.",
	...opening("SessionResume"),
	"session/list":
		"Lists the stored sessions, including those of other front ends and those without a prompt; latest first, 50 at a time.",
	"SessionListParams.cwd": "Only sessions of this work directory.",
	"SessionListParams.cursor": "The `nextCursor` of an earlier response; anything else is refused.",
	"SessionListResult.sessions": "The sessions.",
	"SessionListResult.nextCursor": "Where the next page starts; absent on the last page.",
	"session/delete": "Deletes a session permanently, after cancelling its work. Idempotent.",
	"SessionDeleteParams.sessionId": "The session.",
	"session/close":
		"Cancels the session's work and releases its resources. The session stays stored and can be loaded again; an unused session is deleted.",
	"SessionCloseParams.sessionId": "The session.",
	"session/fork": `Copies a session and opens the copy, without sending its conversation. Not part of version 1 yet. The copy has the conversation, the
plan and the creation options of the session, but not its approvals. Refused while a turn runs in the session.`,
	"SessionForkParams.sessionId": "The session to copy.",
	"SessionForkParams.cwd": "The work directory of that session; any other is refused.",
	"SessionForkParams.additionalDirectories": "All additional roots of the new session.",
	"SessionForkParams.mcpServers": "As in `session/new`.",
	"SessionForkParams.systemPrompt": "Not supported: null or absent.",
	"SessionForkResult.sessionId": "The new session.",
	"SessionForkResult.modes": "As in `session/new`.",
	"SessionForkResult.configOptions": "As in `session/new`.",
	"session/prompt": `Runs a turn. The response comes when the turn is over, after all its updates. A prompt sent during a turn waits for it; a side question
(\`/btw\`) is answered during the turn. Text that begins with a [slash command](../commands.md) runs that command. May be withdrawn, which
is the same as \`session/cancel\`.`,
	"SessionPromptParams.sessionId": "The session, which is loaded if necessary.",
	"SessionPromptParams.prompt": "The person's input, one block or more.",
	"SessionPromptResult.stopReason": `Why the turn ended: \`end_turn\` if the agent has answered, even after a person rejected a call; \`max_tokens\` if the answer reached a
token limit or the token [budget](../../guides/budgets.md) is exhausted; \`max_turn_requests\` if another budget or the step limit is; \`cancelled\`.
A failed turn is answered with an error.`,
	"session/cancel": "Cancels the running and the waiting prompts of a session. See [Cancellation](#cancellation).",
	"SessionCancelParams.sessionId": "The session.",
	"session/set_mode": "Sets the mode of a session, at any time; a running turn continues in it.",
	"SessionSetModeParams.sessionId": "The session.",
	"SessionSetModeParams.modeId": "The `id` of a mode.",
	"session/set_config_option": "Sets an option of a session, at any time. A new model answers from the next prompt on.",
	"SessionSetConfigOptionParams.sessionId": "The session.",
	"SessionSetConfigOptionParams.configId": "The `id` of an option.",
	"SessionSetConfigOptionParams.value": "The `value` of one of its choices; true or false for a `boolean` option.",
	"SessionSetConfigOptionResult.configOptions": "All options as they are now.",
	"_session/steering": `Adds input to the running turn, which the agent reads before its next model call. It is then sent as \`user_message_chunk\`, at its
place in the conversation.`,
	"SessionSteeringParams.sessionId": "The session.",
	"SessionSteeringParams.prompt": "The person's input.",
	"SessionSteeringResult.outcome": "`injected`, or `promptRequired` if no turn is running: send a prompt.",
	"_session/rewind": `Rewinds to before a turn: the files, the conversation, or both. Call it with \`dryRun\` first and show the plan. No update is sent:
load the session again to show the conversation. Fails while a turn runs.`,
	"SessionRewindParams.sessionId": "The session.",
	"SessionRewindParams.messageId": "The id of any message of the turn, or of an earlier restore to undo.",
	"SessionRewindParams.files": "Whether to restore the files; true by default.",
	"SessionRewindParams.conversation": "Whether to cut the conversation; true by default.",
	"SessionRewindParams.conflicts":
		"What to do with a file that has changed since: `stop` (the default) changes nothing at all, `skip` leaves the file, `take` restores it too.",
	"SessionRewindParams.dryRun": "Only says what would be done; false by default.",
	"SessionRewindResult.plan":
		"What is to be done with the files, as in the gateway's [`files.plan`](gateway.md#filesplan); null without `files`.",
	"SessionRewindResult.files":
		"What was done with the files, as in the gateway's [`files.restore`](gateway.md#filesrestore); null for a dry run and without `files`.",
	"SessionRewindResult.messages":
		"Number of messages now in the conversation; null for a dry run and without `conversation`.",
	"$/cancel_request": `Withdraws a request of either side. The client's request is still answered: a prompt with the stop reason \`cancelled\`, any other that
can be withdrawn (\`session/load\`, \`session/resume\`, \`authenticate\`) with the error -32800. Other requests are not affected.`,
	"CancelRequestParams.requestId": "The `id` of the request.",
} as const;

const namedValue = (field: string, of: string): Readonly<Record<string, string>> => ({
	[`${field}[].name`]: `Name of ${of}.`,
	[`${field}[].value`]: "Its value.",
	[`${field}[]._meta`]: "Ignored.",
});

const values = {
	ClientCapabilities:
		"What the client supports. Where an object is expected, an empty one means yes; anything not as described means no.",
	"ClientCapabilities.fs":
		"Files as the client has them, including unsaved changes. Used for files within the session's directories.",
	"ClientCapabilities.fs.readTextFile": "True if it answers `fs/read_text_file`.",
	"ClientCapabilities.fs.writeTextFile": "True if it answers `fs/write_text_file`.",
	"ClientCapabilities.terminal": "Not used: commands run in the server's own [sandbox](../../guides/sandbox.md).",
	"ClientCapabilities.session": "What it supports in sessions.",
	"ClientCapabilities.session.compaction": "An object if it supports `compaction_update`.",
	"ClientCapabilities.session.notices": "An object if it supports `notice`.",
	"ClientCapabilities.session.configOptions": "Kinds of configuration options, in addition to `select`.",
	"ClientCapabilities.session.configOptions.boolean": "An object if it supports options of the type `boolean`.",
	"ClientCapabilities.auth": "About signing in.",
	"ClientCapabilities.auth.terminal": "True if it can sign in with a terminal.",
	"ClientCapabilities.elicitation": "What it can ask a person.",
	"ClientCapabilities.elicitation.form": "An object if it shows forms.",
	"ClientCapabilities.elicitation.url": "An object if it opens addresses.",
	"ClientCapabilities._meta": "[Extensions](#extensions).",
	"ClientCapabilities._meta.terminal_output": "True if it shows command output as it comes.",
	"ClientCapabilities._meta.terminal-auth": "The earlier form of `auth.terminal`.",
	AuthMethod: "A way to sign in.",
	"AuthMethod.id": "Its id, for `authenticate`.",
	"AuthMethod.name": "Its name for people.",
	"AuthMethod.description": "What happens.",
	"AuthMethod.args": "For a terminal sign-in: the arguments to run this program with. Exit code 0 means success.",
	"AuthMethod._meta": "Not used.",
	StdioServer: "An MCP server that is a command.",
	"StdioServer.name": "Its name.",
	"StdioServer.command": "The program.",
	"StdioServer.args": "Its arguments.",
	"StdioServer.env": "Environment variables.",
	...namedValue("StdioServer.env", "the variable"),
	RemoteServer: "An MCP server at an address.",
	"RemoteServer.type": "Its transport: Streamable HTTP, or the older SSE transport.",
	"RemoteServer.name": "Its name.",
	"RemoteServer.url": "Its address.",
	"RemoteServer.headers": "Headers sent with each HTTP request.",
	...namedValue("RemoteServer.headers", "the header"),
	Modes: "What the agent may do without asking.",
	"Modes.currentModeId": "The current mode.",
	"Modes.availableModes": "All modes: `default`, `plan`, `auto` and `yolo`.",
	Mode: "A mode.",
	"Mode.id": "Its id, for `session/set_mode`.",
	"Mode.name": "Its name for people.",
	"Mode.description": "What it means.",
	ConfigOption:
		"A choice that a person can make for a session: `mode`, `model` or `thinking`, each only if there is a choice.",
	"ConfigOption.id": "Its id, for `session/set_config_option`.",
	"ConfigOption.name": "Its name for people.",
	"ConfigOption.description": "What it means.",
	"ConfigOption.category": "What it is about: `mode`, `model` or `thought_level`.",
	"ConfigOption.currentValue": "The current value.",
	"ConfigOption.options": "The possible values.",
	Choice: "One value of an option.",
	"Choice.value": "The value to set.",
	"Choice.name": "Its name for people.",
	"Choice.description": "What it means.",
	SessionInfo: "A stored session.",
	"SessionInfo.sessionId": "Its id.",
	"SessionInfo.cwd": "Its work directory.",
	"SessionInfo.title": "What it is about.",
	"SessionInfo.updatedAt": "When it was last used (ISO 8601).",
	ContentBlock: "A piece of content. Only clients send resources.",
	TextBlock: "Text, as Markdown.",
	"TextBlock.text": "The text.",
	ImageBlock: "An image.",
	"ImageBlock.data": "Its bytes as Base64.",
	"ImageBlock.mimeType": "Its type.",
	"ImageBlock.uri": "Ignored.",
	AudioBlock: "Audio.",
	"AudioBlock.data": "Its bytes as Base64.",
	"AudioBlock.mimeType": "Its type.",
	ResourceLink: "A reference to a resource. The model gets its path or address, and may read it with its tools.",
	"ResourceLink.uri": "Its address.",
	"ResourceLink.name": "Its name.",
	"ResourceLink.title": "Ignored.",
	"ResourceLink.description": "Given to the model.",
	"ResourceLink.mimeType": "Ignored.",
	"ResourceLink.size": "Ignored.",
	ResourceBlock: "An embedded resource. Prompts accept only text, images and audio.",
	"ResourceBlock.resource": "The content.",
	TextResource: "A text with an address.",
	"TextResource.uri": "Its address.",
	"TextResource.text": "The text.",
	"TextResource.mimeType": "Ignored.",
	BlobResource: "Bytes with an address.",
	"BlobResource.uri": "The address.",
	"BlobResource.blob": "The bytes as Base64.",
	"BlobResource.mimeType": "Their type.",
	ToolContent: "Content to show for a tool call: text or media, a file change, or a terminal.",
	"ToolContent.content": "The text or media.",
	"ToolContent.path": "The file.",
	"ToolContent.oldText": "The text before the change; null if there was none.",
	"ToolContent.newText": "The text after the change.",
	"ToolContent.terminalId": "The `terminal_id` under which output follows.",
	CallMeta: "Data that the protocol has no members for ([extensions](#extensions)).",
	"CallMeta.terminal_info": "A terminal that shows the output of the call.",
	"CallMeta.terminal_info.terminal_id": "Its id.",
	"CallMeta.terminal_info.cwd": "The work directory.",
	"CallMeta.terminal_output": "More output of the call.",
	"CallMeta.terminal_output.terminal_id": "The terminal.",
	"CallMeta.terminal_output.data": "The new output.",
	"CallMeta.terminal_exit": "The command has ended.",
	"CallMeta.terminal_exit.terminal_id": "The terminal.",
	"CallMeta.terminal_exit.exit_code": "Its exit code; null if unknown.",
	"CallMeta.terminal_exit.signal": "The signal that ended it, such as `SIGKILL`.",
	"CallMeta.agentwire": "For a subagent's call.",
	"CallMeta.agentwire.parentToolCallId": "The call that runs the subagent.",
	"CallMeta.agentwire.agentId": "Id of the subagent.",
	"CallMeta.agentwire.agent": "Its type.",
	"CallMeta.contextCompaction": "For a call that stands for a compaction.",
	"CallMeta.contextCompaction.version": "Version of this member.",
	Location: "A place that a call is about.",
	"Location.path": "The file or directory.",
	"Location.line": "The line.",
	PlanEntry: "A to-do item.",
	"PlanEntry.content": "The text.",
	"PlanEntry.priority": "Always `medium`: items have no priorities.",
	"PlanEntry.status": "Its progress.",
	Command: "A slash command.",
	"Command.name": "Its name, without the slash.",
	"Command.description": "What it does.",
	"Command.input": "What may follow the name.",
	"Command.input.hint": "What to write there.",
	PermissionOutcome: "The outcome of a request.",
	"PermissionOutcome.optionId":
		"The chosen `optionId`. `approve_once`, `approve_always` and `reject_once` are accepted as well. An unknown id rejects.",
	PermissionOption: "One way to decide.",
	"PermissionOption.optionId": "Its id, for the reply.",
	"PermissionOption.name": "Its name for people. It says what an approval for the session covers.",
	"PermissionOption.kind": "What it means, for colors and keys.",
	FormProperty: "A form field: text, one of several choices, or several of them. None is required.",
	"FormProperty.title": "The question.",
	"FormProperty.description": "More about it.",
	"FormProperty.oneOf": "The options, for a single choice.",
	...choiceTexts("FormProperty.oneOf[]"),
	"FormProperty.items": "The options, for several choices.",
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
		"The line is JSON but not a request, or its id is null; or the request does not fit the state of the session: nothing to sign out of, no plan mode.",
	"-32601": "The method does not exist.",
	"-32602":
		"The params do not fit the method: a field is missing, or a mode, an option, a model, a cursor or a sign-in does not exist.",
	"-32603":
		"The model's provider failed, the store failed, too much is in progress, or an internal error, whose cause is in the server's log.",
	"-32000": "No model is usable, or the sign-in has expired: editors offer to sign in.",
	"-32002": "The session does not exist.",
	"-32800": "The client withdrew the request.",
	"ErrorData.details": "The error message, where editors look for it.",
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
