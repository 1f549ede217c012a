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
		text: "What is no JSON Schema is refused as an `output_schema`, and the contents of a value are checked. Of an extraction that failed, the last output is the last answer, and the sentence is ours.",
	},
	{
		pattern: /INJ/,
		count: 10,
		text: "`injected_context` and what `session/inject_context` adds precede the prompt in its message.",
	},
	{
		pattern: /Method not found|-32601 here|METHOD_NOT_FOUND|external_event error/,
		count: 30,
		text: "The method is not served; `initialize` does not list it.",
	},
	{
		pattern:
			/Broken pipe|"hook_execution_failed" there|reason\.reason: is missing|^hook_(completed|denied): |"hook_denied" here|-32012 here/,
		count: 8,
		text: "A hook that answers without reading its input has answered; upstream takes that for a failure.",
	},
	{
		pattern: /does not support (`|it;)|hooks_override: an object|system_prompt: Invalid type|Invalid session_id: dev/,
		count: 13,
		text: "What has no effect here is refused by name instead of being taken and ignored.",
	},
	{ pattern: /in other words$/, count: 36, text: "Sentences of errors are ours; their numbers are compared." },
	{
		pattern: /^config\/(get|set|patch)( result\.|: refused )/,
		count: 88,
		text: "The configuration has the five members that have an effect here. Its generation counts the changes of the file; a wrong type is an error, and a model that is not set is null.",
	},
	{
		pattern:
			/-32700|duplicate field|^no\/|^5 |^line|^null|"id`|expected struct|request already admitted|an object is needed/,
		count: 14,
		text: "Lines: valid JSON that is not a request gets -32600; a repeated member or id is accepted, invalid UTF-8 is replaced, params are named.",
	},
	{
		pattern: /^(initialize|capabilities\/get|models\/catalog|skills\/list)|resolved_capabilities\.|total_count/,
		count: 25,
		text: "The server says what it is: its own version, methods, capabilities, skills and the models of its settings.",
	},
	{
		pattern: /transcript_role|data\.meta|terminal_cause_kind|error\.data|messages\[\]\.(kind|body|identity)/,
		count: 18,
		text: "Details that the kernel does not have: what the provider said as data, the signature of reasoning, rows of a kind of their own for context.",
	},
	{
		pattern:
			/"shell"|"datetime"|exit code|kaputt|Invalid tool result|structured|BN|tool_result_received content|tool said|results\[\]|is_error/,
		count: 56,
		text: "Tools have the names, arguments and results that they have in the other dialects; a failed call says so in its result.",
	},
	{
		pattern:
			/^session\/(list|read) result.*(created_at|updated_at|is_active: is missing|count: is missing|tokens: is missing|model: is missing|provider: is missing|text: is missing)|(run_usage|request_usage|total_tokens|session_ref|skill_diagnostics|resolved_capabilities|interaction_id|run_id|result\.(result|session_id)): is missing/,
		count: 30,
		text: "A process whose client did not call `capabilities/get` speaks the first protocol.",
	},
	{
		pattern: /budget|percent|max_tool_calls/,
		count: 7,
		text: "A budget that is used up fails the run and names the budget; a limit of nought is refused.",
	},
	{
		pattern:
			/Invalid params: (invalid (type|value)|unknown field|missing field|skill_references)|exceeds the RPC|Duration/,
		count: 3,
		text: "Values that upstream refuses and that change nothing are accepted: pages, filters, descriptions of tools.",
	},
	{
		pattern:
			/cannot infer provider|Max sessions|authentication failed|is served by|hydrate image|LlmFailure|base\w+|stream not found|empty answer|not found: ID|before response publish/,
		count: 17,
		text: "Upstream fails where this server goes on: models that are not in a catalogue, idle sessions beyond a limit, sessions of another process, a system row that a model refuses. The other way round, an empty prompt and broken image data are errors at once.",
	},
	{
		pattern: /^retrying/,
		count: 3,
		text: "The plan of retries is ours: the same kinds of failure, fewer attempts, no floor of 30 s.",
	},
	{
		pattern: /^tool_config_changed/,
		count: 3,
		text: "A change of tools says neither in which turn it was applied nor why a server failed, which the log does.",
	},
	{
		pattern: /^stream: \w+ comes here only$|^stream outcome: |already_closed: true there, false here$/,
		count: 9,
		text: "A subscription ends with its session or when it is closed; one that was opened after an interrupt goes on.",
	},
	{
		pattern: /^(session\/create|session\/read|turn\/start) error\.code: -\d+ there, -\d+ here$/,
		count: 6,
		text: "The number says what is wrong: a field, not the failure of a run.",
	},
	{
		pattern: /Run was cancelled|answered here|^(session\/archive|turn\/interrupt)|is_active: false/,
		count: 4,
		text: "A process that ends answers its open requests; an archive ends the run; a notification `cancel` has no effect; a session that runs is listed as active.",
	},
	{
		pattern: /"pong" there|"po" there/,
		count: 13,
		text: "What the model was asked is another thing, and it answers it: its tools, an empty block, or context before the prompt.",
	},
	{
		pattern: /^session\/history result\.messages: (user ("ECHO |""|\[)|system "(SYS-ABC|TSYS-N)"|user "x" there)/,
		count: 10,
		text: "Images are named in the history and not included, an empty prompt is an empty text, turns are in the order in which they came, and system prompts of turns are no messages.",
	},
	{
		pattern:
			/^session\/history result\.(limit: is missing here|(message_count|offset): another number|messages: (block_assistant|tool_results|system_notice) null (here|there) only|messages: user "(FAIL|HANG|SLOW) .* here only|messages\[\]\.assistant_message_id: is missing here)$/,
		count: 12,
		text: "A run that was interrupted, or ended with its process, leaves its prompt and its answer as far as it came; upstream leaves nothing, or a notice of the system.",
	},
	{
		pattern:
			/^(run_completed usage\.\w+|session\/(list|read) result\..*(message_count|total_tokens)|turn\/start result\.(turns|usage\.\w+)): another number$|^session\/list result\.sessions: (fewer|more) entries here$/,
		count: 11,
		text: "Counts of what differs otherwise: messages of runs that were interrupted, calls that were made or not, sessions that one of the two refuses.",
	},
	{
		pattern:
			/^(run_\w+|turn_\w+|text_\w+|tool_(call|execution|result)_\w+|reasoning_delta|hook_(started|failed)): the event (comes here only|does not come here), or elsewhere in the order$/,
		count: 19,
		text: "A run, or a part of one, comes on one side alone: a request that one of the two refuses, a process that ends, a run that upstream begins anew after that, deltas that upstream drops. Or the provider's parts come in other pieces.",
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
