// The texts of the document of the Agent Client Protocol for updates and requests, and for their fields.

const chunk = (name: string): Readonly<Record<string, string>> => ({
	[`${name}.content`]: "The piece.",
	[`${name}.messageId`]: "Id of the message, the same in all its pieces.",
});

/** Most of them are sent only once per call. */
const call = (name: string): Readonly<Record<string, string>> => ({
	[`${name}.toolCallId`]: "The call's id, unique in the session.",
	[`${name}.title`]: "What the call does, usually on one line. For a command, the command itself.",
	[`${name}.name`]: "The tool's name, as in models and [rules](../../guides/permissions.md).",
	[`${name}.kind`]: "The kind of operation.",
	[`${name}.status`]: "`pending` until it is allowed to act, `in_progress` until it has a result.",
	[`${name}.content`]: "Content to show.",
	[`${name}.locations`]: "The files or directories concerned.",
	[`${name}.rawInput`]: "The arguments: a value, or text if the model did not write JSON.",
	[`${name}.rawOutput`]: "The text that the model receives.",
	[`${name}._meta`]: "Data that the protocol has no members for.",
});

export const updateTexts = {
	user_message_chunk: `A piece of user input: in a replay, from steering, or from another client's prompt. The client's own prompt is not sent back to it.`,
	...chunk("UserMessageChunk"),
	agent_message_chunk: "A piece of the answer, as it streams. Each model call begins a new message.",
	...chunk("AgentMessageChunk"),
	agent_thought_chunk: "A piece of the model's reasoning, as it streams.",
	...chunk("AgentThoughtChunk"),
	tool_call: `The model calls a tool. Sent as soon as the tool's name is known, with the name as its title; the arguments follow in an update.`,
	...call("ToolCall"),
	tool_call_update: `A call has changed. Only the changes are sent; content and locations replace earlier ones. A call without a result, because the turn was
cancelled or the program ended, is \`failed\`.`,
	...call("ToolCallUpdate"),
	plan: "The agent's whole to-do list, whenever it changes.",
	"Plan.entries": "The entries.",
	available_commands_update: "The [slash commands](../commands.md), after a session is opened.",
	"AvailableCommandsUpdate.availableCommands": "All of them.",
	current_mode_update: "The mode of the session has changed, whoever changed it. A `config_option_update` follows.",
	"CurrentModeUpdate.currentModeId": "The mode.",
	config_option_update: "An option of the session has changed, whoever changed it.",
	"ConfigOptionUpdate.configOptions": "All options as they are now.",
	session_info_update: "The session has a new title. Sent before the response to a prompt.",
	"SessionInfoUpdate.title": "The title.",
	"SessionInfoUpdate.updatedAt": "The time (ISO 8601).",
	usage_update: "How full the context is, after each model call and after a replay.",
	"UsageUpdate.used": "Tokens in the context.",
	"UsageUpdate.size": "Size of the context window in tokens.",
	"UsageUpdate.cost":
		"Cost of the session's model calls so far, including subagents; absent if the settings have no price.",
	"UsageUpdate.cost.amount": "The amount.",
	"UsageUpdate.cost.currency": "Its currency, as three letters.",
	notice: `Something outside the conversation: a retried model call, a nearly exhausted budget, connected MCP servers. Only for clients that
declared \`session.notices\`, and never in a replay.`,
	"Notice.severity": "Its severity.",
	"Notice.title": "What it is about.",
	"Notice.description": "More about it.",
	compaction_update: `The context is being compacted, or was. Only for clients that declared \`session.compaction\`; others receive a
[tool call](#extensions).`,
	"CompactionUpdate.compactionId": "The compaction's id, unique in the session.",
	"CompactionUpdate.status": "Its progress.",
	"elicitation/complete": "The sign-in is over: the client can stop waiting for the address it opened.",
	"ElicitationComplete.elicitationId": "The id of the elicitation.",
	"CancelRequest.requestId": "The `id` of the request.",
} as const;

export const requestTexts = {
	"session/request_permission": `Asks a person to approve a call, to review a plan or to answer a question. The request describes the call completely, so a client can show
it alone. Any reply that is not an outcome rejects.`,
	"SessionRequestPermission.sessionId": "The session.",
	"SessionRequestPermission.toolCall": "The call, with everything that a person needs to decide.",
	"SessionRequestPermission.options": `The choices. For an approval: \`approve\`, \`approve_for_session\` if there is something to cover, \`reject\`. For a plan:
\`plan_approve\` or \`plan_opt_<n>\`, \`plan_revise\`, \`plan_reject_and_exit\`. For a question: \`option_<n>\`, \`skip\`.`,
	"SessionRequestPermissionResult.outcome":
		"The outcome. A cancelled request rejects, or leaves a question unanswered.",
	"elicitation/create": `Asks a person. A form has the agent's questions, for clients that declared \`elicitation.form\`; others get only the first question, by
\`session/request_permission\`. An address is the sign-in page, for clients that declared \`elicitation.url\`.`,
	"ElicitationCreate.message": "The question, or what to do at the address.",
	"ElicitationCreate.sessionId": "The session.",
	"ElicitationCreate.toolCallId": "The call that asks.",
	"ElicitationCreate.requestedSchema": "The form, as JSON Schema.",
	"ElicitationCreate.requestedSchema.properties":
		"The fields: `q<n>` for each question, and `q<n>_other` for a free-text answer, which counts if given.",
	"ElicitationCreate.url": "The address.",
	"ElicitationCreate.elicitationId": "Id of the elicitation.",
	"ElicitationCreate.requestId": "The `authenticate` that waits for it.",
	"ElicitationCreateResult.action": "`accept`; anything else leaves the questions unanswered, or ends the sign-in.",
	"ElicitationCreateResult.content": "The fields of the form, by name.",
	"fs/read_text_file": `Asks for a file as the client has it, for a tool that reads or changes it. If the reply is an error, the file on disk is read. Only
sent to clients that declared \`fs.readTextFile\`.`,
	"FsReadTextFile.sessionId": "The session.",
	"FsReadTextFile.path": "The file.",
	"FsReadTextFileResult.content": "Its whole text.",
	"fs/write_text_file": `Asks to write a file, for a tool that changes it. If the reply is an error, the file on disk is written. Only sent to clients that
declared \`fs.writeTextFile\`.`,
	"FsWriteTextFile.sessionId": "The session.",
	"FsWriteTextFile.path": "The file.",
	"FsWriteTextFile.content": "Its whole text.",
} as const;
