// What the document of Meerkat RPC says of each method, value and error, and of their fields. Fields that hold a constant
// need no text.
import { blockTexts, partTexts, questionTexts } from "./content-values.ts";
import { eventTexts, requestTexts } from "./meerkat-message-texts.ts";

const methods = {
	initialize: `Shakes hands, at any time or never. What the client declares counts for sessions that this connection uses for the first
time afterwards, and adds to what it declared before.`,
	"InitializeParams.requests":
		"The [requests](#requests) that the client answers: `approval/request`, `question/request`. Other names are passed over.",
	"InitializeParams.tools": "Tools that the client carries out itself, by `tool/execute`.",
	"InitializeResult.server_info": "Who the server is.",
	"InitializeResult.server_info.name": "The name that clients of this protocol look for, `meerkat-rpc`.",
	"InitializeResult.server_info.version": "The version of agentwire.",
	"InitializeResult.contract_version": "The version of the present contract that is served.",
	"InitializeResult.methods": "Every method there is.",
	initialized: "Does nothing, and need not be sent. With an id it is an unknown method.",
	"capabilities/get":
		"Says what there is, and switches the connection to the shapes and numbers of the present contract.",
	"CapabilitiesGetResult.contract_version": "As in `initialize`.",
	"CapabilitiesGetResult.capabilities": "What there is.",
	"tools/register":
		"Declares tools of the client, as `initialize` does. One of the same name replaces the earlier one.",
	"ToolsRegisterParams.tools": "The tools.",
	"ToolsRegisterResult.registered": "How many were declared by this call.",
	"session/create": `Makes a session and runs its first turn. The answer comes when the run is over, behind all its events. A session whose
first run fails is there all the same; \`error.data.session_id\` names it. Without a usable model none is made.`,
	"SessionCreateParams.prompt": "What the person says.",
	"SessionCreateParams.model":
		"An alias of `models` in the settings, or the model's own name. Null for the one of the [configuration](#config).",
	"SessionCreateParams.provider":
		"The key or type of a provider of the settings, or `anthropic`, `openai`, `gemini`, `kimi`. Null for the one that follows from the model.",
	"SessionCreateParams.max_tokens": "Tokens of one answer, up to 4294967295. Null for those of the configuration.",
	"SessionCreateParams.system_prompt": "Takes the place of the agent's own.",
	"SessionCreateParams.enable_builtins": "Gives the session tools: all but those that run commands.",
	"SessionCreateParams.enable_shell":
		"With `enable_builtins`: gives it those that run commands as well, and the tools of plugins and MCP servers.",
	"SessionCreateParams.initial_turn": "`deferred` makes the session without a run. The prompt is not used then.",
	"SessionCreateResult.session_id": "The new session. Nothing else is there when the first run was deferred.",
	"session/list": "Lists the sessions that this process made or opened.",
	"SessionListParams.limit": "How many, from 1 to 1000.",
	"SessionListParams.offset": "How many of them to pass over.",
	"SessionListResult.sessions": "Oldest first, without those that were archived.",
	"session/read": "Says how a session is, without waiting for its turn. Any session of the work directory can be read.",
	"SessionReadParams.session_id": "The session: a UUID in any usual spelling.",
	"session/archive": `Puts a session out of this protocol's sight; no file is deleted. A running turn is cancelled first, and its request ends
with the cancellation.`,
	"SessionArchiveParams.session_id": "The session.",
	"SessionArchiveResult.archived": "It is done.",
	"turn/start": `Runs a turn of a session. The answer comes when the run is over, behind all its events. One runs at a time in a session; a
second one is refused, never put in line.`,
	"TurnStartParams.session_id": "The session, which is loaded if need be.",
	"TurnStartParams.prompt":
		"What the person says. A text that begins with a [command](../commands.md) carries that out.",
	"TurnStartResult.session_id": "The session.",
	"TurnStartResult.text": "The text of the last answer; it may be empty.",
	"TurnStartResult.turns": "Model calls of this run.",
	"TurnStartResult.tool_calls": "Tool calls of this run, refused ones too.",
	"TurnStartResult.usage": "Tokens of the whole session so far, subagents' included.",
	"turn/interrupt": `Cancels the running turn of a session. It is answered at once, ahead of what it causes, and likewise when nothing runs.
The session stays usable.`,
	"TurnInterruptParams.session_id": "The session.",
	"TurnInterruptResult.interrupted": "It is done, or there was nothing to do.",
	"config/get": "Gives the configuration that new sessions follow.",
	"ConfigGetResult.config": "The configuration.",
	"ConfigGetResult.generation": "How many changes this connection has made.",
	"config/set": "Replaces the configuration. What is left out has its default again; what is wrong changes nothing.",
	"ConfigSetParams.config":
		"The [configuration](#config). Without this key, the params are the configuration themselves.",
	"ConfigSetResult.ok": "It is done.",
	"ConfigSetResult.config": "The configuration as it is now.",
	"ConfigSetResult.generation": "As in `config/get`.",
	"config/patch": "Changes the configuration by a merge patch (RFC 7396): null sets a member back to its default.",
	"ConfigPatchParams.patch": "The patch. Without this key, the params are the patch themselves.",
	"ConfigPatchResult.config": "The configuration as it is now.",
	"ConfigPatchResult.generation": "As in `config/get`.",
} as const;

const values = {
	EventEnvelope: "In the present contract, what `event` of `session/event` is.",
	"EventEnvelope.event_id": "Tells the event apart from all others: a UUID.",
	"EventEnvelope.source": "Where it comes from.",
	"EventEnvelope.source.session_id": "The session.",
	"EventEnvelope.seq": "Counts the events of a session from 1, as this connection is told them.",
	"EventEnvelope.timestamp_ms": "Milliseconds since 1970.",
	"EventEnvelope.payload": "The [event](#events).",
	EventUsage: "Tokens, as events have them.",
	"EventUsage.input_tokens": "Input, what concerned a cache included.",
	"EventUsage.output_tokens": "Output.",
	"EventUsage.cache_creation_tokens": "Input written to a cache; null if there was none.",
	"EventUsage.cache_read_tokens": "Input read from a cache; null if there was none.",
	Usage: "Tokens, as results have them.",
	"Usage.input_tokens": "Input, what concerned a cache included.",
	"Usage.output_tokens": "Output.",
	"Usage.cache_creation_tokens": "Input written to a cache.",
	"Usage.cache_read_tokens": "Input read from a cache.",
	"Usage.total_tokens": "Input and output.",
	Capability: "Something that the server can do.",
	"Capability.id": "Its name.",
	"Capability.description": "What it is, for people.",
	"Capability.status": "Whether it can be used.",
	ToolDeclaration: "A tool that the client carries out.",
	"ToolDeclaration.name": "Its name; that of no tool of the server's.",
	"ToolDeclaration.description": "What the model is told of it.",
	"ToolDeclaration.input_schema": "A JSON Schema of its arguments.",
	SessionState: "A session, in the first protocol.",
	"SessionState.session_id": "Its id.",
	"SessionState.state": "Whether a turn runs.",
	SessionSummary: "A session in a list, in the present contract.",
	SessionDetails: "A session that was read, in the present contract.",
	...facts("SessionSummary"),
	"SessionSummary.total_tokens": "Tokens of all its model calls.",
	...facts("SessionDetails"),
	"SessionDetails.model": "The name that the provider is asked for.",
	"SessionDetails.provider": "The provider's key.",
	"SessionDetails.last_assistant_text": "The text of the last answer that had any.",
	Config:
		"The configuration. Unknown members are dropped. A client may leave out or set to null what is to have its default.",
	"Config.agent": "What concerns the agent.",
	"Config.agent.system_prompt": "Takes the place of the agent's own, for sessions that bring none.",
	"Config.agent.model": "The model of sessions that name none; null for the default model of the settings.",
	"Config.agent.max_tokens_per_turn": "Tokens of one answer; 16384 by default.",
	"Config.agent.max_turns": "Model calls of one run; null for as many as the settings allow.",
	"Config.max_tokens": "Wins over `agent.max_tokens_per_turn`, and is the same by default.",
	ContentPart: "A piece of content.",
	TextPart: "Text.",
	ThinkPart: "A thought of the model.",
	ImageURLPart: "An image.",
	AudioURLPart: "Sound.",
	VideoURLPart: "A video.",
} as const;

function facts(name: string): Readonly<Record<string, string>> {
	return {
		[`${name}.session_id`]: "Its id.",
		[`${name}.created_at`]: "Seconds since 1970.",
		[`${name}.updated_at`]: "Seconds since 1970.",
		[`${name}.message_count`]: "How many messages the conversation has.",
		[`${name}.is_active`]: "Whether a turn runs.",
	};
}

const errors = {
	PARSE_ERROR: "The line is no JSON, or is longer than 100 MiB. The id is null.",
	INVALID_REQUEST: "The line is JSON but no request. The id is null unless there is a usable one.",
	METHOD_NOT_FOUND: "There is no such method.",
	INVALID_PARAMS: "The params do not fit the method, or a configuration cannot be as it would become.",
	INTERNAL_ERROR: "Something went wrong inside. The cause is in the server's log.",
	SESSION_NOT_FOUND: "There is no such session, or it was archived.",
	SESSION_BUSY: "A turn is running in the session.",
	SESSION_NOT_RUNNING: "No turn is running in the session.",
	PROVIDER_ERROR: "No usable model, no valid login, or the model's provider failed; the message says which.",
	BUDGET_EXHAUSTED: "A budget is used up.",
	HOOK_DENIED: "A hook refused the prompt.",
	REQUEST_CANCELLED: "The run was interrupted, its session archived, or the server stopped.",
	CAPABILITY_UNAVAILABLE: "The model cannot take in what was sent, or the agent cannot do what was asked.",
	OVERLOADED: "Too many sessions are in use, too many turns run, or too many requests are under way.",
	"ErrorData.code": "The name of the error.",
	"ErrorData.session_id": "The session that is concerned.",
	"ErrorData.budget": "Of `BUDGET_EXHAUSTED`: what is limited.",
	"ErrorData.scope": "Of `BUDGET_EXHAUSTED`: whether the budget is the session's or that of a turn.",
	"ErrorData.used": "Of `BUDGET_EXHAUSTED`: how much was used, times in seconds.",
	"ErrorData.limit": "Of `BUDGET_EXHAUSTED` and `OVERLOADED`: how much or how many there may be.",
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
