// What a well-behaved client answers to the requests of either dialect: it consents, picks the first option, and paints.
import { isRecord } from "../../../src/base/json.ts";
import type { Fields } from "./case.ts";

export function standardReply(method: string, params: Fields): unknown {
	switch (method) {
		case "approval/request":
			return { decision: "approve" };
		case "question/request":
			return { answers: pickFirst(params["questions"]) };
		case "tool/execute":
			return { content: "painted" };
		default:
			return wireReply(String(params["type"]), isRecord(params["payload"]) ? params["payload"] : {});
	}
}

function wireReply(type: string, { id, questions }: Fields): unknown {
	switch (type) {
		case "ApprovalRequest":
			return { request_id: id, response: "approve" };
		case "QuestionRequest":
			return { request_id: id, answers: pickFirst(questions) };
		case "ToolCallRequest":
			return { tool_call_id: id, return_value: { is_error: false, output: "painted", message: "", display: [] } };
		default:
			return { request_id: id, action: "allow", reason: "" };
	}
}

function pickFirst(questions: unknown): Fields {
	if (!Array.isArray(questions)) return {};
	return Object.fromEntries(
		questions.filter(isRecord).map(({ question, options }) => {
			const [first]: unknown[] = Array.isArray(options) ? options : [];
			return [String(question), isRecord(first) ? String(first["label"]) : ""];
		}),
	);
}
