// How the client of an interleaving answers what the server asks: well, badly, and not at all.
import { isRecord } from "../../../src/base/json.ts";
import type { AnswerKind } from "./liveness-actions.ts";
import type { ServerRequest } from "./liveness-client.ts";

/** The texts of a question: itself, and the labels to choose from. */
function textsOf({ params }: ServerRequest): { readonly question: string; readonly labels: readonly string[] } {
	const first: unknown = Array.isArray(params["questions"]) ? params["questions"][0] : null;
	if (!isRecord(first) || !Array.isArray(first["options"])) return { question: "", labels: [] };
	const labels = first["options"].map((option: unknown) => (isRecord(option) ? String(option["label"]) : ""));
	return { question: String(first["question"]), labels };
}

/** What a person answers to a question; null for none. */
export function chosenLabel(request: ServerRequest, how: AnswerKind): string | null {
	const { labels } = textsOf(request);
	switch (how) {
		case "approve":
			return labels[0] ?? null;
		case "approve-for-session":
			return labels[1] ?? null;
		case "reject-with-words":
			return "Something else.";
		default:
			return null;
	}
}

/** The answers to questions and hooks; null where the general form does. */
function toSpecialResult(request: ServerRequest, how: AnswerKind): Record<string, unknown> | null {
	const { id, type } = request;
	const usable = ["approve", "approve-for-session", "reject", "reject-with-words", "wrong-value", "deep"].includes(how);
	if (!usable) return null;
	if (type === "QuestionRequest") {
		const label = chosenLabel(request, how);
		const { question } = textsOf(request);
		if (how === "wrong-value") return { request_id: id, answers: { [question]: ["a", "b"] } };
		if (how === "deep") return { request_id: id, answers: "<deep>" };
		return { request_id: id, answers: label === null ? {} : { [question]: label } };
	}
	if (type !== "HookRequest") return null;
	if (how === "wrong-value") return { request_id: id, action: "maybe" };
	if (how === "deep") return { request_id: id, reason: "<deep>" };
	return { request_id: id, ...hookDecision(how) };
}

/** What a hook decides by an answer. */
export function hookDecision(how: AnswerKind): { readonly action: string; readonly reason: string } {
	switch (how) {
		case "approve-for-session":
		case "reject-with-words":
			return { action: "block", reason: "Not like this." };
		case "reject":
			return { action: "block", reason: "" };
		default:
			return { action: "allow", reason: "" };
	}
}

const goodReturn = { is_error: false, output: "fetched", message: "", display: [] };

/** The line that answers a request, well or not. */
export function toReply(request: ServerRequest, how: AnswerKind): Record<string, unknown> {
	const { id, type } = request;
	const special = toSpecialResult(request, how);
	if (special !== null) return { jsonrpc: "2.0", id, result: special };
	const isTool = type === "ToolCallRequest";
	const result = (approval: Record<string, unknown>) => ({
		jsonrpc: "2.0",
		id,
		result: isTool ? { tool_call_id: id, return_value: goodReturn } : { request_id: id, ...approval },
	});
	switch (how) {
		case "approve":
			return result({ response: "approve" });
		case "approve-for-session":
			return result({ response: "approve_for_session" });
		case "reject":
			return result({ response: "reject" });
		case "reject-with-words":
			return result({ response: "reject", feedback: "Not like this." });
		case "wrong-value":
			return { jsonrpc: "2.0", id, result: { request_id: id, response: "maybe", tool_call_id: id, return_value: 5 } };
		case "null":
			return { jsonrpc: "2.0", id, result: null };
		case "no-result":
			return { jsonrpc: "2.0", id };
		case "deep":
			return {
				jsonrpc: "2.0",
				id,
				result: isTool
					? { tool_call_id: id, return_value: { ...goodReturn, extras: { deep: "<deep>" } } }
					: { request_id: id, response: "<deep>" },
			};
		case "error":
			return { jsonrpc: "2.0", id, error: { code: -32000, message: "cannot" } };
		case "bad-error":
			return { jsonrpc: "2.0", id, error: { code: "x", message: "cannot" } };
		case "other-id":
			return { ...result({ response: "approve" }), id: `${id}-other` };
		case "event": {
			const payload = { request_id: id, response: "approve" };
			return { jsonrpc: "2.0", method: "event", params: { type: "ApprovalRequestResolved", payload } };
		}
	}
}

const ignoredAnswers: ReadonlySet<AnswerKind> = new Set(["no-result", "bad-error", "other-id"]);

/** Whether an answer is not usable at all and leaves the request open: only approvals are answered by an event. */
export function isIgnored({ type }: ServerRequest, how: AnswerKind): boolean {
	return ignoredAnswers.has(how) || (how === "event" && type !== "ApprovalRequest");
}
