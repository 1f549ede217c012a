// Whether params fit the methods of Meerkat RPC, for the oracle (meerkat-rpc §2.3, §2.9, docs/guides/meerkat.md).

type Fields = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const isText = (value: unknown): value is string => typeof value === "string";

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isWhole = (value: unknown, least: number): boolean =>
	typeof value === "number" && Number.isInteger(value) && value >= least && value <= 4_294_967_295;

export function fitsCreate(params: unknown): params is Fields {
	if (!isObject(params) || !fitsPrompt(params["prompt"])) return false;
	const { max_tokens: maxTokens, initial_turn: initialTurn } = params;
	if (!["model", "provider", "system_prompt"].every((key) => isAbsent(params[key]) || isText(params[key])))
		return false;
	if (
		!["enable_builtins", "enable_shell", "session_events"].every(
			(key) => isAbsent(params[key]) || typeof params[key] === "boolean",
		)
	)
		return false;
	if (!isAbsent(initialTurn) && initialTurn !== "deferred" && initialTurn !== "run_immediately") return false;
	if (!["budget_limits", "turn_budget_limits"].every((key) => isAbsent(params[key]) || fitsBudgets(params[key]))) {
		return false;
	}
	return isAbsent(maxTokens) || isWhole(maxTokens, 0);
}

/** Members that readers of JSON drop, so that nobody can use them to change an object's kind. */
const dropped: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** The contract refuses what it does not know, unless it is null. */
export function fitsTurn(
	{ prompt, session_events: wantsEvents, model, provider, ...others }: Fields,
	isContract: boolean,
): boolean {
	if (![model, provider].every((name) => isAbsent(name) || isText(name))) return false;
	if (!fitsPrompt(prompt) || !(isAbsent(wantsEvents) || typeof wantsEvents === "boolean")) return false;
	const unknown = Object.entries(others).filter(
		([name, value]) => name !== "session_id" && value !== null && !dropped.has(name),
	);
	return !isContract || unknown.length === 0;
}

/** A text, or blocks; the lines have no images. */
function fitsPrompt(prompt: unknown): boolean {
	if (isText(prompt)) return true;
	return (
		Array.isArray(prompt) &&
		prompt.every((block) => isObject(block) && block["type"] === "text" && isText(block["text"]))
	);
}

function fitsBudgets(limits: unknown): boolean {
	if (!isObject(limits)) return false;
	return ["max_tokens", "max_tool_calls"].every((key) => isAbsent(limits[key]) || isWhole(limits[key], 1));
}

/** Whether what it says of the part of a history that is wanted can be followed. */
export function fitsPage(params: unknown): boolean {
	if (!isObject(params)) return false;
	const { offset, limit } = params;
	return (offset === undefined || isCount(offset)) && (isAbsent(limit) || isCount(limit));
}

/** Whether they are absent, or name a page. */
export function fitsList(params: unknown): boolean {
	if (isAbsent(params)) return true;
	if (!isObject(params)) return false;
	const { offset, limit } = params;
	const isWithin = (value: unknown, most: number) => isAbsent(value) || (isCount(value) && Number(value) <= most);
	return isWithin(offset, 1_000_000) && isWithin(limit, 1000);
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

export function fitsTools(params: unknown): boolean {
	if (!isObject(params) || !Array.isArray(params["tools"])) return false;
	return params["tools"].every(
		(tool: unknown) =>
			isObject(tool) &&
			isText(tool["name"]) &&
			(tool["description"] === undefined || isText(tool["description"])) &&
			(tool["input_schema"] === undefined || isObject(tool["input_schema"])),
	);
}

/** Whether some member of a tool is null, of which the protocol does not say whether it is absent. */
export function hasNull(params: unknown): boolean {
	if (!isObject(params) || !Array.isArray(params["tools"])) return false;
	return params["tools"].some((tool: unknown) => isObject(tool) && Object.values(tool).includes(null));
}

/** What would limit sessions if it had an effect here, by its path. */
const limits = [
	...["budget", "budget_limits", "hooks", "limits", "output_schema", "tool_filter", "turn_budget_limits"],
	...["turn_tool_overlay", "agent.output_schema", "agent.provider_params", "shell.security_patterns"],
];
/** Settings of hooks that limit nothing. */
const harmless: ReadonlySet<string> = new Set([
	...["background_max_concurrency", "default_timeout_ms", "payload_max_bytes"],
]);

/** Whether a configuration asks for a limit: nulls, `false` and what is empty ask for none. */
function namesLimits(config: Fields): boolean {
	return limits.some((path) => {
		const at = path.split(".").reduce<unknown>((value, name) => (isObject(value) ? value[name] : null), config);
		return asks(at);
	});
}

function asks(value: unknown): boolean {
	if (isObject(value)) return Object.entries(value).some(([name, member]) => !harmless.has(name) && asks(member));
	return Array.isArray(value) ? value.length > 0 : !isAbsent(value) && value !== false;
}

/** Whether a configuration or a patch of one is taken, in the envelope of the contract or bare. */
export function fitsConfig(params: unknown, envelope: "config" | "patch"): "yes" | "no" | "maybe" {
	if (!isObject(params)) return "no";
	const value = envelope in params ? params[envelope] : params;
	if (!isObject(value) || namesLimits(value)) return "no";
	const { agent, max_tokens: maxTokens } = value;
	if (!isAbsent(maxTokens) && !isWhole(maxTokens, 1)) return "no";
	// A null in a patch sets back; of one in a whole configuration nothing is said.
	const onNull = envelope === "patch" ? "yes" : "maybe";
	if (agent === null) return onNull;
	if (agent === undefined) return "yes";
	if (!isObject(agent)) return "no";
	const { system_prompt, model, max_tokens_per_turn: answerTokens, max_turns: maxTurns } = agent;
	if (![system_prompt, model].every((text) => isAbsent(text) || isText(text))) return "no";
	if (![answerTokens, maxTurns].every((count) => isAbsent(count) || isWhole(count, 1))) return "no";
	return answerTokens === null ? onNull : "yes";
}
