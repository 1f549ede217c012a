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

- A prompt is answered once it is part of the conversation, with the id of its message; \`state_update\` says when and why its turn ended. A
  failed turn ends with the stop reason \`error\`, after the response.
- \`session/resume\` replaces \`session/load\`: with \`replayFrom\` it replays the conversation before its response.
- The mode is only a configuration option. There are no client files and client terminals.
- \`session/fork\` is served as in version 1. It is not part of the draft yet, only of its unstable extensions.
- Command output belongs to terminals, which have their own updates. File changes are patches.
- \`tool_call/cancel\`, \`terminal/cancel\` and MCP servers over \`sse\` are not served.
`;

const opening = (name: string): Readonly<Record<string, string>> => ({
	[`${name}Result.configOptions`]: "The choices a person can make for the session, most important first.",
});

export const draftTexts: Readonly<Record<string, string>> = {
	initialize: `Exchanges what client and server support. A client that asks for an earlier version is refused with -32022 if only this version is
served.`,
	"InitializeParams.protocolVersion": "The latest version that the client supports: 2 or later.",
	"InitializeParams.info": "The client: `name`, `title` and `version`.",
	"InitializeParams.capabilities": "What the client supports.",
	"InitializeResult.info": "The server.",
	"InitializeResult.info.name": "Its name.",
	"InitializeResult.info.title": "Its name for people.",
	"InitializeResult.info.version": "Its version.",
	"InitializeResult.capabilities": "What the server supports.",
	"InitializeResult.capabilities.session": "What it supports in sessions.",
	"InitializeResult.capabilities.session.prompt": "What a prompt may contain besides text and links.",
	"InitializeResult.capabilities.session.prompt.image": "Present if the model takes images.",
	"InitializeResult.capabilities.session.prompt.audio": "Present if the model takes audio.",
	"InitializeResult.capabilities.session.prompt.embeddedContext": "Resources.",
	"InitializeResult.capabilities.session.mcp": "Kinds of MCP servers.",
	"InitializeResult.capabilities.session.mcp.stdio": "Commands.",
	"InitializeResult.capabilities.session.mcp.http": "Addresses.",
	"InitializeResult.capabilities.session.delete": "`session/delete`.",
	"InitializeResult.capabilities.session.fork": "`session/fork`, which is not part of version 2 yet.",
	"InitializeResult.capabilities.session.additionalDirectories":
		"`additionalDirectories` of the methods that open a session.",
	"InitializeResult.capabilities.auth": "Signing in and out.",
	"auth/login": `Signs in with a method from \`initialize\`. A client that opens addresses is asked to open the sign-in page; for other clients it only
checks whether there is a model by now, and fails if there is none. May be withdrawn.`,
	"AuthLoginParams.methodId": "The `methodId` of the method.",
	"AuthLoginParams._meta": "Ignored.",
	"auth/logout": "Signs out: deletes the stored credentials.",
	...opening("SessionNew"),
	"session/resume": "Opens a stored session. A running turn continues.",
	"SessionResumeParams.replayFrom":
		"Where to start replaying the conversation before the response: `start`, or absent for no replay.",
	...opening("SessionResume"),
	"session/fork": `Copies a session and opens the copy, without sending its conversation. Not part of version 2 yet. The copy has the conversation, the
plan and the creation options of the session, but not its approvals. Refused while a turn runs in the session.`,
	...opening("SessionFork"),
	"session/prompt": `Begins a turn, and is answered once the prompt is part of the conversation. A prompt sent during a turn waits for it; a side
question (\`/btw\`) is answered during the turn. May be withdrawn, which is the same as \`session/cancel\`.`,
	"SessionPromptResult.messageId": "The id of the prompt's message.",
	"session/cancel": "Cancels the running and the waiting prompts of a session. The turn ends as `cancelled`.",
	"SessionSetConfigOptionParams.type": "`boolean` for an option of that type, `id` for any other.",
	"$/cancel_request": `Withdraws a request of either side. A client request that can be withdrawn is then answered with the error -32800; if the turn of a
prompt has begun, the turn is cancelled.`,
	ClientCapabilities: "What the client supports. An empty object means yes; anything else means no.",
	"ClientCapabilities.auth.terminal": "An object if it can sign in with a terminal.",
	"AuthMethod.methodId": "Its id, for `auth/login`.",
	"ConfigOption.configId": "Its id, for `session/set_config_option`.",
	"ToolContent.changes": "The changed files.",
	"ToolContent.changes[].operation": "`add` for a new file.",
	"ToolContent.changes[].path": "The file.",
	"ToolContent.patch": "The change.",
	"ToolContent.patch.text": "The patch. Its line numbers count from the start of the changed piece.",
	"ToolContent.terminalId": "The terminal that shows its output.",
	"Command.input.type": "Text.",
	CallMeta: "Data that the protocol has no members for.",
	compaction_update: "The context is being compacted, or was.",
	notice: `Something outside the conversation: a retried model call, a nearly exhausted budget, connected MCP servers. Never in a replay.`,
	session_info_update: "The session has a new title. Sent at the end of a turn.",
	"ElicitationCreate.requestId": "The `auth/login` that waits for it.",
	user_message_chunk: "A piece of user input, including the client's own prompts.",
	tool_call_update: `A tool call: the first update creates it, later ones have only the changes. Content and locations replace earlier ones. A call without
a result is \`failed\`.`,
	terminal_update: "A terminal begins, or its command has ended.",
	"TerminalUpdate.terminalId": "Its id.",
	"TerminalUpdate.cwd": "The work directory, in the first update.",
	"TerminalUpdate.exitStatus": "How the command ended.",
	"TerminalUpdate.exitStatus.exitCode": "Its exit code; null if unknown.",
	"TerminalUpdate.exitStatus.signal": "The signal that ended it, such as `SIGKILL`.",
	terminal_output_chunk: "More output of a command.",
	"TerminalOutputChunk.terminalId": "The terminal.",
	"TerminalOutputChunk.data": "The bytes as Base64.",
	plan_update: "The agent's whole to-do list, whenever it changes.",
	"PlanUpdate.plan": "The list.",
	"PlanUpdate.plan.planId": "Always `todos`.",
	"PlanUpdate.plan.entries": "The entries.",
	state_update: "Whether the session is working. Also sent when it is opened.",
	"StateUpdate.state": "`requires_action` while the turn waits for a person.",
	"StateUpdate.stopReason": "Why the turn ended, if it has.",
	"StateUpdate.error": "What failed, for the stop reason `error`.",
	"StateUpdate.error.code": "The number of the error.",
	"StateUpdate.error.message": "The error, for people.",
	"StateUpdate.error.data": "More about it.",
	"session/request_permission": `Asks a person to approve a call, to review a plan or to answer a question. The request describes the call completely, so a client can
show it alone. Any reply that is not an outcome rejects.`,
	"SessionRequestPermission.title": "The question.",
	"SessionRequestPermission.description": "More about it.",
	"SessionRequestPermission.subject": "What it is about.",
	"SessionRequestPermission.subject.toolCall": "The call, with everything that a person needs to decide.",
	"-32022": "The requested version is not served.",
};
