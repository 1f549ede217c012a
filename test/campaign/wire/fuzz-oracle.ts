// What the protocol says about any line: written from the reference (wire-protocol §1.3, §2, §7.1, §7.4, §11), apart from
// the server's own code, so that the two can disagree.
import { readLine } from "../frame/json-cases.ts";

export interface OracleState {
	dialect: "undecided" | "kimi" | "legacy";
	/** Whether a turn runs, and stays until the campaign releases it. */
	inTurn: boolean;
}

/** What a line must bring about. `after` says whether the server is to come to rest before the next line. */
export type Verdict =
	| { readonly kind: "silence"; readonly after: "go-on" | "rest" }
	| {
			readonly kind: "reply";
			/** Id and outcome; an outcome of `*` is whatever ends a prompt. */
			readonly id: string | null;
			readonly outcome: string;
			readonly after: "go-on" | "rest" | "turn";
	  };

type Fields = Readonly<Record<string, unknown>>;

const silence: Verdict = { kind: "silence", after: "go-on" };

function reply(id: string | null, outcome: string, after: "go-on" | "rest" | "turn" = "go-on"): Verdict {
	return { kind: "reply", id, outcome, after };
}

const parseError = reply(null, "-32700 Invalid JSON format");
const invalidRequest = reply(null, "-32600 Invalid request");
const invalidResponse = reply(null, "-32600 Invalid response");
const busy = "-32000 An agent turn is already in progress";
const idle = "-32000 No agent turn is in progress";

/** Predicts one line and moves the state on. `holdsTurns`: an accepted prompt's turn stays until it is released. */
export function predict(bytes: Uint8Array, state: OracleState, holdsTurns: boolean): Verdict {
	const { text, value } = readLine(bytes);
	if (state.dialect === "undecided") state.dialect = decide(value);
	if (state.dialect === "legacy") return predictLegacy(text, value, state, holdsTurns);
	return predictKimi(value, state, holdsTurns);
}

function isObject(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAbsent(value: unknown): boolean {
	return value === undefined || value === null;
}

function isError(value: unknown): boolean {
	if (!isObject(value) || typeof value["message"] !== "string") return false;
	const { code } = value;
	return typeof code === "string" ? /^-?[0-9]+$/.test(code) : typeof code === "number" && Number.isInteger(code);
}

const isText = (value: unknown): value is string => typeof value === "string";

/** Step 3 of §1.3. */
function isKimiEnvelope(value: unknown): value is Fields {
	if (!isObject(value)) return false;
	if ("jsonrpc" in value && value["jsonrpc"] !== "2.0") return false;
	const { method, id, error } = value;
	return (isAbsent(method) || isText(method)) && (isAbsent(id) || isText(id)) && (isAbsent(error) || isError(error));
}

const legacyKeys = ["jsonrpc", "id", "method", "params", "result", "error"];

function isLegacyEnvelope(value: unknown): value is Fields {
	if (!isKimiEnvelope(value) || value["jsonrpc"] !== "2.0") return false;
	return Object.keys(value).every((key) => legacyKeys.includes(key));
}

const kimiMethods = ["initialize", "prompt", "steer", "replay", "set_plan_mode", "cancel"];
const handshakeKeys = ["protocol_version", "client", "external_tools", "capabilities", "hooks"];

/** §7.4 */
function decide(value: unknown): OracleState["dialect"] {
	if (isLegacyEnvelope(value) && (value["method"] === "run" || value["method"] === "interrupt")) return "legacy";
	if (!isKimiEnvelope(value) || !isText(value["id"]) || !isText(value["method"])) return "undecided";
	const { method, params } = value;
	if (method === "initialize") {
		return isObject(params) && handshakeKeys.some((key) => key in params) ? "kimi" : "undecided";
	}
	return kimiMethods.includes(method) ? "kimi" : "undecided";
}

function predictKimi(value: unknown, state: OracleState, holdsTurns: boolean): Verdict {
	if (value === undefined) return parseError;
	if (!isKimiEnvelope(value)) return invalidRequest;
	const { method, id, params } = value;
	if (!isText(method)) {
		if (!isText(id)) return silence;
		return "result" in value || !isAbsent(value["error"]) ? silence : invalidResponse;
	}
	if (!isText(id)) return silence;
	if (!kimiMethods.includes(method)) return reply(id, `-32601 Unexpected method received: ${method}`);
	if (!fits(method, params)) return reply(id, `-32602 Invalid parameters for method \`${method}\``);
	switch (method) {
		case "initialize":
			return state.inTurn ? reply(id, busy) : reply(id, "result", "rest");
		case "replay":
			return state.inTurn ? reply(id, busy) : reply(id, "result", "rest");
		case "prompt":
			if (isAside(params)) return reply(id, "result", "rest");
			return state.inTurn ? reply(id, busy) : startTurn(id, isTextOnly(params), state, holdsTurns);
		case "steer":
			return state.inTurn ? reply(id, "result") : reply(id, idle);
		case "cancel":
			if (!state.inTurn) return reply(id, idle);
			state.inTurn = false;
			return reply(id, "result", "rest");
		default:
			return reply(id, "result");
	}
}

function startTurn(id: string, staysOpen: boolean, state: OracleState, holdsTurns: boolean): Verdict {
	if (!staysOpen || !holdsTurns) return reply(id, "*", "rest");
	state.inTurn = true;
	return reply(id, "*", "turn");
}

/** Whether it is a side question without a question: never busy, and answered at once. */
function isAside(params: unknown): boolean {
	if (!isObject(params)) return false;
	const { user_input: input } = params;
	const [only, more]: unknown[] = Array.isArray(input) ? input : [{ type: "text", text: input }];
	return more === undefined && isObject(only) && isText(only["text"]) && only["text"].trim() === "/btw";
}

/** Whether the input asks nothing of the model but to read. */
function isTextOnly(params: unknown): boolean {
	if (!isObject(params) || !Array.isArray(params["user_input"])) return true;
	return params["user_input"].every(
		(part: unknown) => isObject(part) && ["text", "audio_url"].includes(String(part["type"])),
	);
}

function predictLegacy(text: string, value: unknown, state: OracleState, holdsTurns: boolean): Verdict {
	if (text === "" || !isLegacyEnvelope(value)) return silence;
	const { method, id, params } = value;
	if (!isText(method)) return silence;
	if (method === "interrupt") return interrupt(isText(id) ? id : null, state);
	if (!isText(id)) return silence;
	if (method !== "run") return reply(id, `-32601 Unknown method: ${method}`);
	const given = isObject(params) ? params : {};
	if (!isText(given["input"]) && !isText(given["prompt"])) {
		return reply(id, "-32602 `input` (or `prompt`) must be a string");
	}
	return state.inTurn ? reply(id, "-32000 Run already in progress") : startTurn(id, true, state, holdsTurns);
}

function interrupt(id: string | null, state: OracleState): Verdict {
	const wasRunning = state.inTurn;
	state.inTurn = false;
	const after = wasRunning ? "rest" : "go-on";
	return id === null ? { kind: "silence", after } : reply(id, "result", after);
}

/** §2: whether params fit a method. */
function fits(method: string, params: unknown): boolean {
	switch (method) {
		case "cancel":
		case "replay":
			return true;
		case "prompt":
		case "steer":
			return isObject(params) && isInput(params["user_input"]);
		case "set_plan_mode":
			return isObject(params) && isBoolean(params["enabled"]);
		default:
			return isHandshake(params);
	}
}

function isInput(value: unknown): boolean {
	return isText(value) || (Array.isArray(value) && value.every(isPart));
}

const isOptionalText = (value: unknown): boolean => isAbsent(value) || isText(value);

function isPart(part: unknown): boolean {
	if (!isObject(part)) return false;
	const { type } = part;
	if (type === "text") return isText(part["text"]);
	if (type === "think") return isText(part["think"]) && isOptionalText(part["encrypted"]);
	if (type !== "image_url" && type !== "audio_url" && type !== "video_url") return false;
	const media = part[type];
	return isObject(media) && isText(media["url"]) && isOptionalText(media["id"]);
}

const booleanWords = ["1", "0", "true", "false", "yes", "no", "on", "off", "y", "n", "t", "f"];

function isBoolean(value: unknown): boolean {
	if (isText(value)) return booleanWords.includes(value.toLowerCase());
	return value === true || value === false || value === 1 || value === 0;
}

function isHandshake(params: unknown): boolean {
	if (!isObject(params) || !isText(params["protocol_version"])) return false;
	const { client, external_tools: tools, capabilities, hooks } = params;
	if (!isAbsent(client) && !(isObject(client) && isText(client["name"]) && isOptionalText(client["version"])))
		return false;
	if (!isAbsent(tools) && !(Array.isArray(tools) && tools.every(isTool))) return false;
	if (!isAbsent(hooks) && !(Array.isArray(hooks) && hooks.every(isHook))) return false;
	if (isAbsent(capabilities)) return true;
	if (!isObject(capabilities)) return false;
	return ["supports_question", "supports_plan_mode"].every(
		(key) => !(key in capabilities) || isBoolean(capabilities[key]),
	);
}

function isHook(hook: unknown): boolean {
	if (!isObject(hook) || !isText(hook["id"]) || !isText(hook["event"])) return false;
	return (!("matcher" in hook) || isText(hook["matcher"])) && (!("timeout" in hook) || isWhole(hook["timeout"]));
}

function isWhole(value: unknown): boolean {
	return isText(value) ? /^\s*[+-]?[0-9]+\s*$/.test(value) : Number.isInteger(value);
}

function isTool(tool: unknown): boolean {
	return isObject(tool) && isText(tool["name"]) && isText(tool["description"]) && isObject(tool["parameters"]);
}
