// The texts of the document of the Agent Client Protocol for updates and requests, and for their fields.

const chunk = (name: string): Readonly<Record<string, string>> => ({
	[`${name}.content`]: "The piece.",
	[`${name}.messageId`]: "The same for all pieces of one message.",
});

/** Most of them are sent of a call only once. */
const call = (name: string): Readonly<Record<string, string>> => ({
	[`${name}.toolCallId`]: "Id of the call, unique in the session.",
	[`${name}.title`]: "What the call does, on one line as a rule. Of a command it is the command and nothing else.",
	[`${name}.name`]: "The tool, by the name that models and [rules](../../guides/permissions.md) have for it.",
	[`${name}.kind`]: "What kind of thing it does.",
	[`${name}.status`]: "`pending` until it is allowed to act, `in_progress` until it has a result.",
	[`${name}.content`]: "What is shown of it.",
	[`${name}.locations`]: "The files or directories that it is about.",
	[`${name}.rawInput`]: "The arguments: a value, or text where the model wrote no JSON.",
	[`${name}.rawOutput`]: "The text that the model is given.",
	[`${name}._meta`]: "What the protocol has no members for.",
});

export const updateTexts = {
	user_message_chunk: `A piece of what a person said: in a replay, by steering, and of a prompt by another client. The client's own prompt is not sent back
to it.`,
	...chunk("UserMessageChunk"),
	agent_message_chunk: "A piece of the answer, as it streams. Each model call begins a new message.",
	...chunk("AgentMessageChunk"),
	agent_thought_chunk: "A piece of the model's reasoning, as it streams.",
	...chunk("AgentThoughtChunk"),
	tool_call: `The model calls a tool. It is sent as soon as the name of the tool is known, and then has that as its title; the arguments follow in an
update.`,
	...call("ToolCall"),
	tool_call_update: `A call has changed: only what changes is sent. Content and locations replace those that were sent before. Without a result, because the
turn was cancelled or the program has ended, a call is \`failed\`.`,
	...call("ToolCallUpdate"),
	plan: "The todo list of the agent, whenever it changes: always all of it.",
	"Plan.entries": "The entries.",
	available_commands_update: "The [slash commands](../commands.md), after a session was opened.",
	"AvailableCommandsUpdate.availableCommands": "All of them.",
	current_mode_update: "The mode of the session has changed, whoever has set it. A `config_option_update` follows.",
	"CurrentModeUpdate.currentModeId": "The mode.",
	config_option_update: "An option of the session has changed, whoever has set it.",
	"ConfigOptionUpdate.configOptions": "All options as they are now.",
	session_info_update: "The session has a title, or another one. Sent before the answer to a prompt.",
	"SessionInfoUpdate.title": "The title.",
	"SessionInfoUpdate.updatedAt": "The time (ISO 8601).",
	usage_update: "How full the context is, after each model call and after a replay.",
	"UsageUpdate.used": "Tokens in the context.",
	"UsageUpdate.size": "Tokens that it may have.",
	"UsageUpdate.cost":
		"What the model calls of the session have cost so far, subagents' included; absent where the settings have no price.",
	"UsageUpdate.cost.amount": "The amount.",
	"UsageUpdate.cost.currency": "Its currency, as three letters.",
	notice: `Something that is no part of the conversation: a model call is retried, a budget is nearly used up, MCP servers are connected. Only
for clients that declared \`session.notices\`, and never in a replay.`,
	"Notice.severity": "How grave it is.",
	"Notice.title": "What it is about.",
	"Notice.description": "More about it.",
	compaction_update: `The context is being compacted, or was. Only for clients that declared \`session.compaction\`; others are sent a
[tool call](#extensions).`,
	"CompactionUpdate.compactionId": "Id of the compaction, unique in the session.",
	"CompactionUpdate.status": "The progress of the change.",
	"elicitation/complete": "The sign-in is over: the client need not wait for the address that it has opened.",
	"ElicitationComplete.elicitationId": "The id of the elicitation.",
	"CancelRequest.requestId": "The `id` of the request.",
} as const;

export const requestTexts = {
	"session/request_permission": `Asks for the approval of a call, or for the choice of a person about a plan or a question. The call is complete: a client may show the
request alone. Any reply that is not an outcome rejects.`,
	"SessionRequestPermission.sessionId": "The session.",
	"SessionRequestPermission.toolCall": "The call, with everything that a person needs in order to decide.",
	"SessionRequestPermission.options": `What can be chosen. Of an approval: \`approve\`, \`approve_for_session\` where there is something to cover, \`reject\`. Of a plan:
\`plan_approve\` or \`plan_opt_<n>\`, \`plan_revise\`, \`plan_reject_and_exit\`. Of a question: \`option_<n>\`, \`skip\`.`,
	"SessionRequestPermissionResult.outcome":
		"What came of it. A cancelled request rejects, or leaves a question without an answer.",
	"elicitation/create": `Asks a person. A form has the questions of the agent, for clients that declared \`elicitation.form\`; others are asked for the first question
by \`session/request_permission\`. An address is the sign-in page, for clients that declared \`elicitation.url\`.`,
	"ElicitationCreate.message": "What is asked, or what to do at the address.",
	"ElicitationCreate.sessionId": "The session.",
	"ElicitationCreate.toolCallId": "The call that asks.",
	"ElicitationCreate.requestedSchema": "The form, as JSON Schema.",
	"ElicitationCreate.requestedSchema.properties":
		"The fields: `q<n>` for each question, and `q<n>_other` for an answer to it in other words, which counts if it is given.",
	"ElicitationCreate.url": "The address.",
	"ElicitationCreate.elicitationId": "Id of the elicitation.",
	"ElicitationCreate.requestId": "The `authenticate` that waits for it.",
	"ElicitationCreateResult.action":
		"`accept`, or anything else: then the questions stay without an answer, or the sign-in ends.",
	"ElicitationCreateResult.content": "The fields of the form, by name.",
	"fs/read_text_file": `Asks for a file as the client has it, for a tool that reads or changes it. Where the reply is an error, the file on disk is read.
Requested only of clients that declared \`fs.readTextFile\`.`,
	"FsReadTextFile.sessionId": "The session.",
	"FsReadTextFile.path": "The file.",
	"FsReadTextFileResult.content": "Its whole text.",
	"fs/write_text_file": `Asks to write a file, for a tool that changes it. Where the reply is an error, the file on disk is written. Requested only of clients
that declared \`fs.writeTextFile\`.`,
	"FsWriteTextFile.sessionId": "The session.",
	"FsWriteTextFile.path": "The file.",
	"FsWriteTextFile.content": "Its whole text.",
} as const;
