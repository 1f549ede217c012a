// Why a played conversation differs from the recorded one. The first reason whose pattern fits holds; the generated part
// of docs/guides/meerkat.md lists every difference below its reason.

export interface Reason {
	readonly pattern: RegExp;
	/** How many differences it explains: one more is looked at before it is taken for one of these. */
	readonly count: number;
	readonly text: string;
}

export const reasons: readonly Reason[] = [
	{
		pattern: /schema of the answer cannot be used|^extraction_failed (last_output|reason)|extraction_error/,
		count: 5,
		text: "`output_schema` must be a JSON Schema, and values are checked against all of it. A failed extraction reports the last answer as its last output, in our words.",
	},
	{
		pattern: /INJ/,
		count: 10,
		text: "`injected_context` and the text from `session/inject_context` come before the prompt, in the same message.",
	},
	{
		pattern: /Method not found|-32601 here|METHOD_NOT_FOUND|external_event error/,
		count: 30,
		text: "The method is not supported, and `initialize` does not list it.",
	},
	{
		pattern:
			/Broken pipe|"hook_execution_failed" there|reason\.reason: is missing|^hook_(completed|denied): |"hook_denied" here|-32012 here/,
		count: 8,
		text: "A hook may answer without reading its input; upstream counts that as a failure.",
	},
	{
		pattern: /does not support (`|it;)|hooks_override: an object|system_prompt: Invalid type|Invalid session_id: dev/,
		count: 13,
		text: "Fields without an effect here are rejected by name; upstream accepts and ignores them.",
	},
	{
		pattern: /in other words$/,
		count: 36,
		text: "Error messages are worded differently; only the codes are compared.",
	},
	{
		pattern: /^config\/(get|set|patch)( result\.|: refused )/,
		count: 88,
		text: "The configuration has only the five members with an effect here. Its generation counts changes to the file, a wrong type is an error, and an unset model is null.",
	},
	{
		pattern:
			/-32700|duplicate field|^no\/|^5 |^line|^null|"id`|expected struct|request already admitted|an object is needed/,
		count: 14,
		text: "Malformed lines: valid JSON that is not a request gets -32600, repeated members and ids are accepted, invalid UTF-8 is replaced, and errors name the param.",
	},
	{
		pattern: /^(initialize|capabilities\/get|models\/catalog|skills\/list)|resolved_capabilities\.|total_count/,
		count: 25,
		text: "The server reports its own version, methods, capabilities and skills, and the models of its settings.",
	},
	{
		pattern: /transcript_role|data\.meta|terminal_cause_kind|error\.data|messages\[\]\.(kind|body|identity)/,
		count: 18,
		text: "The kernel does not keep these details: provider errors as data, reasoning signatures, and separate rows for context.",
	},
	{
		pattern:
			/"shell"|"datetime"|exit code|kaputt|Invalid tool result|structured|BN|tool_result_received content|tool said|results\[\]|is_error/,
		count: 56,
		text: "Tools have the same names, arguments and results as in the other dialects, and a failed call reports the failure in its result.",
	},
	{
		pattern:
			/^session\/(list|read) result.*(created_at|updated_at|is_active: is missing|count: is missing|tokens: is missing|model: is missing|provider: is missing|text: is missing)|(run_usage|request_usage|total_tokens|session_ref|skill_diagnostics|resolved_capabilities|interaction_id|run_id|result\.(result|session_id)): is missing/,
		count: 30,
		text: "Until the client calls `capabilities/get`, the server speaks the first protocol.",
	},
	{
		pattern: /budget|percent|max_tool_calls/,
		count: 7,
		text: "An exhausted budget fails the run and is named in the error; a limit of zero is rejected.",
	},
	{
		pattern:
			/Invalid params: (invalid (type|value)|unknown field|missing field|skill_references)|exceeds the RPC|Duration/,
		count: 3,
		text: "Harmless values that upstream rejects are accepted: page sizes, filters, tool descriptions.",
	},
	{
		pattern:
			/cannot infer provider|Max sessions|authentication failed|is served by|hydrate image|LlmFailure|base\w+|stream not found|empty answer|not found: ID|before response publish/,
		count: 17,
		text: "Upstream fails where this server continues: models missing from its catalog, idle sessions over the limit, sessions of another process, a system row that a model rejects. Conversely, an empty prompt and broken image data fail here immediately.",
	},
	{
		pattern: /^retrying/,
		count: 3,
		text: "The retry plan differs: the same kinds of failure, fewer attempts, no minimum delay of 30 s.",
	},
	{
		pattern: /^tool_config_changed/,
		count: 3,
		text: "`tool_config_changed` omits the turn in which the change took effect and why a server failed; the log has the reason.",
	},
	{
		pattern: /^stream: \w+ comes here only$|^stream outcome: |already_closed: true there, false here$/,
		count: 9,
		text: "A subscription ends when its session ends or it is closed; one opened after an interrupt continues.",
	},
	{
		pattern: /^(session\/create|session\/read|turn\/start) error\.code: -\d+ there, -\d+ here$/,
		count: 6,
		text: "The error code reports an invalid field instead of a failed run.",
	},
	{
		pattern: /Run was cancelled|answered here|^(session\/archive|turn\/interrupt)|is_active: false/,
		count: 4,
		text: "A process that exits first answers its open requests. Archiving ends the run, a `cancel` notification has no effect, and a running session is listed as active.",
	},
	{
		pattern: /"pong" there|"po" there/,
		count: 13,
		text: "The model's request differs (its tools, an empty block, context before the prompt), and so does its answer.",
	},
	{
		pattern: /^session\/history result\.messages: (user ("ECHO |""|\[)|system "(SYS-ABC|TSYS-N)"|user "x" there)/,
		count: 10,
		text: "The history names images without including them, shows an empty prompt as empty text, keeps turns in order of arrival, and omits the system prompts of turns.",
	},
	{
		pattern:
			/^session\/history result\.(limit: is missing here|(message_count|offset): another number|messages: (block_assistant|tool_results|system_notice) null (here|there) only|messages: user "(FAIL|HANG|SLOW) .* here only|messages\[\]\.assistant_message_id: is missing here)$/,
		count: 12,
		text: "A run that was interrupted or ended with its process keeps its prompt and partial answer in the history; upstream keeps nothing, or a system notice.",
	},
	{
		pattern:
			/^(run_completed usage\.\w+|session\/(list|read) result\..*(message_count|total_tokens)|turn\/start result\.(turns|usage\.\w+)): another number$|^session\/list result\.sessions: (fewer|more) entries here$/,
		count: 11,
		text: "Counts that follow from other differences: messages of interrupted runs, calls made by only one side, sessions that one side rejects.",
	},
	{
		pattern:
			/^(run_\w+|turn_\w+|text_\w+|tool_(call|execution|result)_\w+|reasoning_delta|hook_(started|failed)): the event (comes here only|does not come here), or elsewhere in the order$/,
		count: 19,
		text: "All or part of a run occurs on one side only: one side rejects a request, a process exits, upstream restarts a run or drops deltas. Or the provider's text is split differently.",
	},
];

/** The reason of a difference; null when it has none. */
export function reasonOf(difference: string): Reason | null {
	return reasons.find(({ pattern }) => pattern.test(difference)) ?? null;
}

/** The listed differences below their reasons, for a document: the places of each, without their values. */
export function toRows(listed: readonly string[]): string {
	const rows = reasons.map((reason) => {
		const places = listed.filter((each) => reasonOf(each) === reason).map(place);
		return `| ${reason.text} | ${[...new Set(places)].map((each) => `\`${each}\``).join(", ")} |`;
	});
	return ["", "| Why | Where |", "| --- | --- |", ...rows, ""].join("\n");
}

function place(difference: string): string {
	const [where = ""] = difference.split(": ");
	// One of the methods has a name of three hundred letters.
	return where.replace(/(\w{20})\w{100,}/, "$1…").replaceAll("|", "/");
}
