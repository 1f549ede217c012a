// Whether a line of a server of Meerkat RPC has the documented shape, and a response is right for its request.
import { isRecord } from "../../../src/base/json.ts";
import type { Fields, Found } from "../frame/exchange.ts";
import { type Expected, errorNumbers } from "./fuzz-oracle.ts";

const eventTypes = new Set([
	...["run_started", "run_completed", "run_failed", "turn_started", "turn_completed", "text_delta", "text_complete"],
	// The last one says which of the client's tools the session does without.
	...["reasoning_delta", "retrying", "tool_config_changed"],
]);

/** `result`, or the name of the error. */
export function outcomeOf({ error }: Fields): string {
	if (!isRecord(error)) return "result";
	return isRecord(error["data"]) ? String(error["data"]["code"]) : "an error without a name";
}

export function whatIsWrongWithResponse({ result, error, ...others }: Fields): string | null {
	if (Object.keys(others).length !== 2) return "a response with more than it should have";
	if (result !== undefined) return isRecord(result) && error === undefined ? null : "a result that is no object";
	const isError = isRecord(error) && Number.isInteger(error["code"]) && typeof error["message"] === "string";
	return isError && error["message"] !== "" ? null : "an error without code or message";
}

export function whatIsWrongWithEvent({ id, method, params }: Fields): string | null {
	if (method !== "session/event" || id !== undefined) return "a message that is not an event";
	if (!isRecord(params) || typeof params["session_id"] !== "string" || !isRecord(params["event"])) return "no event";
	const { event } = params;
	const payload = isRecord(event["payload"]) ? event["payload"] : event;
	return eventTypes.has(String(payload["type"])) ? null : "an event of no known type";
}

/** Whether number, session and result of a response are those of its request, in one of these eras of the protocol. */
export function isRight(
	{ method, outcomes, sessionId }: Expected,
	{ outcome, message }: Found,
	eras: readonly number[],
): boolean {
	const { error, result } = message;
	if (!outcomes.has(outcome)) return false;
	if (outcome === "result") return isRecord(result) && isResultOf(method, result, sessionId);
	if (!isRecord(error) || !eras.some((era) => errorNumbers[outcome]?.[era] === error["code"])) return false;
	const data = isRecord(error["data"]) ? error["data"] : {};
	return sessionId === null || outcome === "INVALID_PARAMS" || data["session_id"] === sessionId;
}

function isResultOf(method: string | null, result: Fields, sessionId: string | null): boolean {
	const has = (...keys: readonly string[]) => keys.every((key) => key in result);
	const isOwn = sessionId === null || result["session_id"] === sessionId;
	switch (method) {
		case "initialize":
			return has("server_info", "contract_version") && Array.isArray(result["methods"]);
		case "capabilities/get":
			return Array.isArray(result["capabilities"]);
		case "tools/register":
			return Number.isInteger(result["registered"]);
		case "session/create":
			// A creation without a run names the session, in the contract also by its realm.
			return Object.keys(result).every((key) => key === "session_id" || key === "session_ref")
				? has("session_id")
				: has("session_id", "text", "turns", "tool_calls", "usage");
		case "turn/start":
			return isOwn && has("text", "turns", "tool_calls", "usage");
		case "session/list":
			return Array.isArray(result["sessions"]);
		case "session/read":
			return isOwn && has("session_id");
		case "session/history":
			return isOwn && has("message_count") && Array.isArray(result["messages"]);
		case "session/archive":
			return result["archived"] === true;
		case "turn/interrupt":
			return result["interrupted"] === true || (isOwn && result["result"] === "staged_noop");
		case "config/get":
		case "config/patch":
			return has("config") || has("agent", "max_tokens");
		case "config/set":
			return result["ok"] === true || has("config");
		default:
			return false;
	}
}
