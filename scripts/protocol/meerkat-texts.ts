// The texts of the document of Meerkat RPC for methods, values and errors, and for their fields. Fields that hold a constant
// need none.
import { blockTexts, partTexts, questionTexts } from "./content-values.ts";
import { eventTexts, requestTexts } from "./meerkat-message-texts.ts";

const methods = {
	initialize: `Declares what the client supports, at any time or never. A declaration adds to earlier ones, and applies to the sessions that this
connection uses for the first time afterwards.`,
	"InitializeParams.requests":
		"The [requests](#requests) that the client answers: `approval/request`, `question/request`. Other names are ignored.",
	"InitializeParams.tools": "Tools that the client runs itself, by `tool/execute`.",
	"InitializeResult.server_info": "Who the server is.",
	"InitializeResult.server_info.name": "The name that clients of this protocol look for, `meerkat-rpc`.",
	"InitializeResult.server_info.version": "The version of agentwire.",
	"InitializeResult.contract_version":
		"The version of the present contract that is served: 0.9.8, or the one that was [asked for](../meerkat.md#the-present-contract).",
	"InitializeResult.methods": "All methods.",
	initialized: "Has no effect, and need not be sent. With an id it is an unknown method.",
	"capabilities/get":
		"Lists the capabilities, and switches the connection to the shapes and numbers of the present contract.",
	"CapabilitiesGetResult.contract_version": "As in `initialize`; as an object in contract 0.9.",
	"CapabilitiesGetResult.capabilities": "The capabilities.",
	"tools/register":
		"Declares tools of the client, as `initialize` does. One of the same name replaces the earlier one.",
	"ToolsRegisterParams.tools": "The tools.",
	"ToolsRegisterResult.registered": "How many were declared by this call.",
	"session/create": `Creates a session and runs its first turn. The response comes when the run is over, after all its events. A session whose
first run fails exists all the same; \`error.data.session_id\` names it. Without a usable model, or without capacity for its
run, no session is created.`,
	"SessionCreateParams.prompt": "The prompt.",
	"SessionCreateParams.model":
		"An alias of `models` in the settings, or the model's own name. Null for the one of the [configuration](#config).",
	"SessionCreateParams.provider":
		"The key or type of a provider of the settings, or `anthropic`, `openai`, `gemini`, `kimi`. Null for the one that follows from the model.",
	"SessionCreateParams.max_tokens": "Tokens of one answer, up to 4294967295. Null for those of the configuration.",
	"SessionCreateParams.system_prompt": "Replaces the agent's own.",
	"SessionCreateParams.enable_builtins": "Adds tools: all that run no commands.",
	"SessionCreateParams.enable_shell":
		"With `enable_builtins`: adds the tools that run commands, and those of plugins and MCP servers.",
	"SessionCreateParams.budget_limits": "Limits of the session as a whole.",
	"SessionCreateParams.turn_budget_limits": "Limits of each run.",
	"SessionCreateParams.initial_turn":
		"`deferred` creates the session without a run. In the present contract the prompt then precedes that of its first turn, in the same process; in the first protocol it is not used.",
	"SessionCreateParams.session_events": "False for no events of the first run.",
	"SessionCreateResult.session_id": "The new session. The only member if the first run was deferred.",
	"session/list": "Lists the sessions that this process created or opened.",
	"SessionListParams.limit": "Maximum number, from 1 to 1000.",
	"SessionListParams.offset": "How many to skip.",
	"SessionListResult.sessions": "Oldest first, without those that were archived.",
	"session/read":
		"Returns the state of a session, without waiting for its turn. Works for every session of the work directory.",
	"SessionReadParams.session_id": "The session: a UUID in any usual spelling.",
	"session/history": `Returns the context of a session as its model has it, or a page of it. The system prompt is first. Messages that a compaction
replaced are missing.`,
	"SessionHistoryParams.session_id": "The session.",
	"SessionHistoryParams.offset": "How many messages to skip, from the first.",
	"SessionHistoryParams.limit": "Maximum number; null for all.",
	"SessionHistoryResult.session_id": "The session.",
	"SessionHistoryResult.message_count": "Total number of messages.",
	"SessionHistoryResult.offset": "As requested.",
	"SessionHistoryResult.limit": "As requested.",
	"SessionHistoryResult.has_more": "Whether more messages follow.",
	"SessionHistoryResult.messages": "Oldest first.",
	"session/archive": `Hides a session from this protocol; no file is deleted. A running turn is cancelled first, and its request fails with the
cancellation.`,
	"SessionArchiveParams.session_id": "The session.",
	"SessionArchiveResult.archived": "Always true.",
	"turn/start": `Runs a turn of a session. The response comes when the run is over, after all its events. One turn runs at a time in a session. In
the first protocol a second one is refused; in the present contract it waits for the end of those before it, and is refused when 64 wait.`,
	"TurnStartParams.session_id": "The session, which is loaded if necessary.",
	"TurnStartParams.prompt": "The prompt. A text that begins with a [slash command](../commands.md) runs that command.",
	"TurnStartParams.session_events": "False for no events of this run.",
	"TurnStartResult.session_id": "The session.",
	"TurnStartResult.text": "The text of the last answer; it may be empty.",
	"TurnStartResult.turns": "Model calls of this run.",
	"TurnStartResult.tool_calls": "Tool calls of this run, refused ones too.",
	"TurnStartResult.usage": "Tokens of the whole session so far, subagents' included.",
	"TurnStartResult.run_usage": "Tokens of the model calls of this run.",
	"TurnStartResult.request_usage": "Tokens of each model call that answered, in order.",
	"turn/interrupt": `Cancels the running turn of a session. The response comes at once, before what it causes, also when nothing runs. The
session stays usable.`,
	"TurnInterruptParams.session_id": "The session.",
	"TurnInterruptResult.interrupted":
		"True, also when nothing ran. In the present contract false for a session that was created without a run and has had none.",
	"TurnInterruptResult.session_id": "The session.",
	"TurnInterruptResult.result": "The same in a word.",
	"config/get": "Returns the configuration for new sessions.",
	"ConfigGetResult.config": "The configuration.",
	"ConfigGetResult.generation": "How many changes this connection has made.",
	"config/set":
		"Replaces the configuration. Absent members get their default; an invalid configuration changes nothing.",
	"ConfigSetParams.config":
		"The [configuration](#config). Without this key, the params are the configuration themselves.",
	"ConfigSetResult.ok": "Always true.",
	"ConfigSetResult.config": "The configuration as it is now.",
	"ConfigSetResult.generation": "As in `config/get`.",
	"config/patch": "Changes the configuration by a merge patch (RFC 7396): null resets a member to its default.",
	"ConfigPatchParams.patch": "The patch. Without this key, the params are the patch themselves.",
	"ConfigPatchResult.config": "The configuration as it is now.",
	"ConfigPatchResult.generation": "As in `config/get`.",
} as const;

const values = {
	EventEnvelope: "In the present contract, what `event` of `session/event` is.",
	"EventEnvelope.event_id": "Unique id of the event: a UUID.",
	"EventEnvelope.source": "Where it comes from.",
	"EventEnvelope.source.session_id": "The session.",
	"EventEnvelope.seq": "Counts the events of a session that this connection is sent, from 1.",
	"EventEnvelope.timestamp_ms": "Milliseconds since 1970.",
	"EventEnvelope.payload": "The [event](#events).",
	EventUsage: "Usage in events.",
	"EventUsage.input_tokens": "Input, including what was read from or written to a cache.",
	"EventUsage.output_tokens": "Output.",
	"EventUsage.cache_creation_tokens": "Input written to a cache; null if there was none.",
	"EventUsage.cache_read_tokens": "Input read from a cache; null if there was none.",
	Usage: "Usage in results.",
	"Usage.input_tokens": "Input, including what was read from or written to a cache.",
	"Usage.output_tokens": "Output.",
	"Usage.cache_creation_tokens": "Input written to a cache.",
	"Usage.cache_read_tokens": "Input read from a cache.",
	"Usage.total_tokens": "Input and output.",
	Capability: "A capability of the server.",
	"Capability.id": "Its name.",
	"Capability.description": "A description for people.",
	"Capability.status": "Whether it is available.",
	ToolDeclaration: "A tool that the client runs.",
	"ToolDeclaration.name": "Its name; it must differ from the names of the server's tools.",
	"ToolDeclaration.description": "The description that the model gets.",
	"ToolDeclaration.input_schema": "A JSON Schema of its arguments.",
	SessionState: "A session, in the first protocol.",
	"SessionState.session_id": "Its id.",
	"SessionState.state": "Whether a turn runs.",
	SessionSummary: "A session in a list, in the present contract.",
	SessionDetails: "A session that was read, in the present contract.",
	...facts("SessionSummary"),
	"SessionSummary.total_tokens": "Tokens of all its model calls.",
	...facts("SessionDetails"),
	"SessionDetails.model": "The model's name at the provider.",
	"SessionDetails.provider": "The provider's key.",
	"SessionDetails.last_assistant_text": "The text of the last answer that had text.",
	BudgetLimits:
		"Limits of a session or of its runs. Each replaces the corresponding setting; null leaves that setting in force.",
	"BudgetLimits.max_tokens": "Tokens of all its model calls.",
	"BudgetLimits.max_duration":
		"The time of its runs: text such as `90s`, `500ms` or `1h 30m`, of days, hours, minutes, seconds and milliseconds; or a number of milliseconds.",
	"BudgetLimits.max_tool_calls": "Tool calls.",
	HistoryMessage: "A message of a session's history.",
	SystemMessage: "The system prompt.",
	...messageFacts("SystemMessage"),
	"SystemMessage.content": "The text.",
	UserMessage: "Input of the person, or text that the program added.",
	...messageFacts("UserMessage"),
	"UserMessage.content": "The text, or a list of texts. Media are named, not included.",
	AssistantMessage: "An answer of the model.",
	...messageFacts("AssistantMessage"),
	"AssistantMessage.assistant_message_id": "Names it, as its events did. Absent for answers of sessions of kimi.",
	"AssistantMessage.blocks": "Its blocks, tool calls last.",
	"AssistantMessage.stop_reason": "Whether it called tools.",
	ResultsMessage: "The results of the tool calls of one answer.",
	...messageFacts("ResultsMessage"),
	"ResultsMessage.results": "One for each call.",
	TextAnswer: "Text of an answer.",
	"TextAnswer.data": "The content.",
	"TextAnswer.data.text": "The text.",
	ReasoningAnswer: "Reasoning of the model.",
	"ReasoningAnswer.data": "The content.",
	"ReasoningAnswer.data.text": "The reasoning.",
	ToolUseAnswer: "A tool call.",
	"ToolUseAnswer.data": "The content.",
	"ToolUseAnswer.data.id": "Id of the call, unique within the answer.",
	"ToolUseAnswer.data.name": "The name of the tool.",
	"ToolUseAnswer.data.args": "The arguments. Anything but an object is under `value`.",
	ToolOutcome: "The result of a tool.",
	"ToolOutcome.tool_use_id": "The `id` of the call.",
	"ToolOutcome.content": "What the model read.",
	"ToolOutcome.is_error": "Whether it failed.",
	Config: "The configuration. Unknown members are dropped. A member that is absent or null has its default.",
	"Config.agent": "Settings of the agent.",
	"Config.agent.system_prompt": "Replaces the agent's own, for sessions that bring none.",
	"Config.agent.model": "The model of sessions that name none; null for the default model of the settings.",
	"Config.agent.max_tokens_per_turn": "Tokens of one answer; 16384 by default.",
	"Config.agent.max_turns": "Model calls of one run; null for as many as the settings allow.",
	"Config.max_tokens": "Overrides `agent.max_tokens_per_turn`, and has the same default.",
	ContentPart: "A piece of content.",
	TextPart: "Text.",
	ThinkPart: "Reasoning of the model.",
	ImageURLPart: "An image.",
	AudioURLPart: "Audio.",
	VideoURLPart: "A video.",
} as const;

function facts(name: string): Readonly<Record<string, string>> {
	return {
		[`${name}.session_id`]: "Its id.",
		[`${name}.created_at`]: "Seconds since 1970.",
		[`${name}.updated_at`]: "Seconds since 1970.",
		[`${name}.message_count`]: "Number of messages in the context.",
		[`${name}.is_active`]: "Whether a turn runs.",
	};
}

function messageFacts(name: string): Readonly<Record<string, string>> {
	return {
		[`${name}.created_at`]:
			"Its time (ISO 8601) according to the session's log; if the log does not have it, the time of the next message.",
	};
}

const errors = {
	PARSE_ERROR: "The line is not JSON, or is longer than 100 MiB. The id is null.",
	INVALID_REQUEST: "The line is JSON but not a request. The id is null unless the line has a usable one.",
	METHOD_NOT_FOUND: "There is no such method.",
	INVALID_PARAMS: "The params do not fit the method, or the resulting configuration would be invalid.",
	INTERNAL_ERROR: "Internal error. The cause is in the server's log.",
	SESSION_NOT_FOUND: "There is no such session, or it was archived.",
	SESSION_BUSY: "A turn is running in the session.",
	SESSION_NOT_RUNNING: "No turn is running in the session.",
	PROVIDER_ERROR: "No usable model, no valid login, or the model's provider failed; the message says which.",
	BUDGET_EXHAUSTED: "A budget is exhausted.",
	HOOK_DENIED: "A hook blocked the prompt.",
	REQUEST_CANCELLED: "The run was interrupted, its session archived, or the server stopped.",
	CAPABILITY_UNAVAILABLE: "The model does not support what was sent, or the agent does not support what was requested.",
	OVERLOADED: "Too many sessions are in use, too many turns run, or too many requests are under way.",
	"ErrorData.code": "The name of the error.",
	"ErrorData.session_id": "The session concerned.",
	"ErrorData.budget": "Of `BUDGET_EXHAUSTED`: what is limited.",
	"ErrorData.scope": "Of `BUDGET_EXHAUSTED`: whether the budget is the session's or that of a turn.",
	"ErrorData.used": "Of `BUDGET_EXHAUSTED`: how much was consumed, times in seconds.",
	"ErrorData.limit": "Of `BUDGET_EXHAUSTED` and `OVERLOADED`: the limit.",
} as const;

export const meerkatTexts: Readonly<Record<string, string>> = {
	...partTexts,
	...blockTexts,
	...questionTexts,
	...methods,
	...eventTexts,
	...requestTexts,
	...values,
	...errors,
};
