// The texts of the document of version 2 of the Agent Client Protocol, where it differs from version 1.

export const draftIntroduction = `
Version 2 of the Agent Client Protocol is a draft and may change; it is served as an experiment, by
\`agentwire acp --acp-protocol 2\` alone and with \`--acp-protocol auto\` to clients whose \`initialize\` asks for it. Lines, ids, paths
and \`_meta\` are those of [version 1](acp.md). [schema/acp-v2.json](../../../schema/acp-v2.json) has the same as JSON Schema.

\`\`\`
→ {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"editor","version":"1"},"capabilities":{}}}
← {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"agentwire","title":"agentwire","version":"1.0.0"},"capabilities":{"session":{"prompt":{"embeddedContext":{}},"mcp":{"stdio":{},"http":{}},"delete":{},"fork":{},"additionalDirectories":{}},"auth":{}},"authMethods":[{"type":"agent","methodId":"login","name":"Sign in to Kimi","description":"Opens the sign-in page in a browser."}]}}
→ {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/project"}}
← {"jsonrpc":"2.0","id":1,"result":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","configOptions":[]}}
→ {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","prompt":[{"type":"text","text":"Say hello"}]}}
← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","update":{"sessionUpdate":"state_update","state":"running"}}}
← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Say hello"},"messageId":"T-u"}}}
← {"jsonrpc":"2.0","id":2,"result":{"messageId":"T-u"}}
← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."},"messageId":"T-1"}}}
← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}}
\`\`\`
`;

export const draftClosing = `
## Differences from version 1

- A prompt is answered once it is part of the conversation, with the id of its message; \`state_update\` says when its turn is over, and why. A
  turn that fails ends with the stop reason \`error\`, after the answer.
- \`session/resume\` replaces \`session/load\`: with \`replayFrom\` it replays the conversation before its answer.
- The mode is a configuration option alone. Client files and client terminals do not exist.
- \`session/fork\` is served as in version 1. It is not part of the draft yet, only of its unstable extensions.
- Output of commands belongs to terminals, which are updated by themselves. Changes of files are patches.
- \`tool_call/cancel\`, \`terminal/cancel\` and MCP servers over \`sse\` are not served.
`;

const opening = (name: string): Readonly<Record<string, string>> => ({
	[`${name}Result.configOptions`]: "What a person may choose for the session: most important first.",
});

export const draftTexts: Readonly<Record<string, string>> = {
	initialize: `Says what client and server can do. A client that asks for an earlier version is refused with -32022 where this version is served
alone.`,
	"InitializeParams.protocolVersion": "The latest version that the client speaks: 2 or later.",
	"InitializeParams.info": "Who the client is: `name`, `title` and `version`.",
	"InitializeParams.capabilities": "What the client can do.",
	"InitializeResult.info": "Who the server is.",
	"InitializeResult.info.name": "Its name.",
	"InitializeResult.info.title": "Its name for people.",
	"InitializeResult.info.version": "Its version.",
	"InitializeResult.capabilities": "What the server can do.",
	"InitializeResult.capabilities.session": "With sessions.",
	"InitializeResult.capabilities.session.prompt": "What a prompt may contain besides text and links.",
	"InitializeResult.capabilities.session.prompt.image": "There when the model takes images.",
	"InitializeResult.capabilities.session.prompt.audio": "There when the model takes audio.",
	"InitializeResult.capabilities.session.prompt.embeddedContext": "Resources.",
	"InitializeResult.capabilities.session.mcp": "Kinds of MCP servers.",
	"InitializeResult.capabilities.session.mcp.stdio": "Commands.",
	"InitializeResult.capabilities.session.mcp.http": "Addresses.",
	"InitializeResult.capabilities.session.delete": "`session/delete`.",
	"InitializeResult.capabilities.session.fork": "`session/fork`, which is not part of version 2 yet.",
	"InitializeResult.capabilities.session.additionalDirectories":
		"`additionalDirectories` of the methods that open a session.",
	"InitializeResult.capabilities.auth": "Signing in and out.",
	"auth/login": `Signs in, by a method that \`initialize\` has named. A client that opens addresses is requested to open the sign-in page; for other
clients it only checks whether there is a model by now, and fails when there is none. May be withdrawn.`,
	"AuthLoginParams.methodId": "The `methodId` of the method.",
	"AuthLoginParams._meta": "Ignored.",
	"auth/logout": "Signs out: deletes the stored credentials.",
	...opening("SessionNew"),
	"session/resume": "Opens a stored session. What runs in it goes on.",
	"SessionResumeParams.replayFrom":
		"Where to replay the conversation from, before the answer: `start`, or absent to send nothing of it.",
	...opening("SessionResume"),
	"session/fork": `Opens a copy of a session as a session of its own, without sending its conversation. Not part of version 2 yet. It has the
conversation, the plan and the creation options of the session; what was approved for the session is asked again. Refused while a turn
runs in the session.`,
	...opening("SessionFork"),
	"session/prompt": `Begins a turn, and is answered once the prompt is part of the conversation. A prompt that comes while a turn runs waits for it; a
side question (\`/btw\`) is answered while it runs. May be withdrawn, which is the same as \`session/cancel\`.`,
	"SessionPromptResult.messageId": "The message that the prompt has become.",
	"session/cancel":
		"Cancels the prompts of a session: the one that runs, and those that wait. The turn ends as `cancelled`.",
	"SessionSetConfigOptionParams.type": "`boolean` for an option of that type, `id` for any other.",
	"$/cancel_request": `Withdraws a request, of either side. A request of the client that can be withdrawn is then answered with the error -32800; of
a prompt whose turn has begun, the turn is cancelled.`,
	ClientCapabilities: "What the client can do. An empty object means yes; anything else means no.",
	"ClientCapabilities.auth.terminal": "An object when a sign-in in a terminal is possible.",
	"AuthMethod.methodId": "What `auth/login` names it by.",
	"ConfigOption.configId": "What it is set by.",
	"ToolContent.changes": "The files that are changed.",
	"ToolContent.changes[].operation": "`add` for a new file.",
	"ToolContent.changes[].path": "The file.",
	"ToolContent.patch": "The change.",
	"ToolContent.patch.text": "The patch. Its lines count from the beginning of the piece that is changed.",
	"ToolContent.terminalId": "The terminal that shows its output.",
	"Command.input.type": "Text.",
	CallMeta: "What the protocol has no members for.",
	compaction_update: "The context is being compacted, or was.",
	notice: `Something that is no part of the conversation: a model call is retried, a budget is nearly used up, MCP servers are connected. Never
in a replay.`,
	session_info_update: "The session has a title, or another one. Sent at the end of a turn.",
	"ElicitationCreate.requestId": "The `auth/login` that waits for it.",
	user_message_chunk: "A piece of what a person said, the client's own prompts included.",
	tool_call_update: `A call of a tool: its first update creates it, and later ones have only what changes. Content and locations replace those that
were sent before. Without a result a call is \`failed\`.`,
	terminal_update: "A terminal begins, or its command has ended.",
	"TerminalUpdate.terminalId": "Its id.",
	"TerminalUpdate.cwd": "The work directory, when it begins.",
	"TerminalUpdate.exitStatus": "How the command has ended.",
	"TerminalUpdate.exitStatus.exitCode": "Its exit code; null where it is not known.",
	"TerminalUpdate.exitStatus.signal": "The signal that has ended it, such as `SIGKILL`.",
	terminal_output_chunk: "More output of a command.",
	"TerminalOutputChunk.terminalId": "The terminal.",
	"TerminalOutputChunk.data": "The bytes as Base64.",
	plan_update: "The todo list of the agent, whenever it changes: always all of it.",
	"PlanUpdate.plan": "The list.",
	"PlanUpdate.plan.planId": "Always `todos`.",
	"PlanUpdate.plan.entries": "The entries.",
	state_update: "Whether the session works. Sent at its opening too.",
	"StateUpdate.state": "`requires_action` while the turn waits for a person.",
	"StateUpdate.stopReason": "Why a turn is over, when it is.",
	"StateUpdate.error": "What has failed, for the stop reason `error`.",
	"StateUpdate.error.code": "The number of the error.",
	"StateUpdate.error.message": "The error, for people.",
	"StateUpdate.error.data": "More about it.",
	"session/request_permission": `Asks for the approval of a call, or for the choice of a person about a plan or a question. The call is complete: a client may
show the request alone. Any reply that is not an outcome rejects.`,
	"SessionRequestPermission.title": "What is asked.",
	"SessionRequestPermission.description": "More about it.",
	"SessionRequestPermission.subject": "What it is about.",
	"SessionRequestPermission.subject.toolCall": "The call, with everything that a person needs in order to decide.",
	"-32022": "The version that the client asks for is not served.",
};
