// The client of Kimi Wire and legacy in the crash and kill campaigns: plays one script over lines, whatever carries them.
import { isRecord } from "../../../src/base/json.ts";
import { type Channel, type Fields, toLine } from "../frame/life.ts";
import type { LifeScript } from "./crash-scenarios.ts";

/** A line of the server's, as far as the campaign looks into it. */
export interface DeliveredLine {
	readonly id: string | null;
	readonly method: string | null;
	readonly params: { readonly type: string; readonly payload: Readonly<Record<string, unknown>> } | null;
	readonly result: Readonly<Record<string, unknown>> | null;
	readonly error: { readonly code: number; readonly message: string } | null;
}

/** Throws on a line that is no message. */
export function parseDelivered(line: string): DeliveredLine {
	const value: unknown = JSON.parse(line);
	if (!isRecord(value)) throw new Error(`not a message: ${line}`);
	const { id, method, params, result, error } = value;
	return {
		id: typeof id === "string" ? id : null,
		method: typeof method === "string" ? method : null,
		params:
			isRecord(params) && typeof params["type"] === "string"
				? { type: params["type"], payload: isRecord(params["payload"]) ? params["payload"] : {} }
				: null,
		result: isRecord(result) ? result : null,
		error:
			isRecord(error) && typeof error["code"] === "number" && typeof error["message"] === "string"
				? { code: error["code"], message: error["message"] }
				: null,
	};
}

const toolDeclaration = {
	name: "pick_color",
	description: "Picks a color.",
	parameters: { type: "object", properties: { of: { type: "string" } } },
};

/** Ids of the requests of a life. */
export const replayId = "replay";
export const promptId = (index: number): string => `prompt-${index}`;

/** Answers with the first option of every question. */
function firstChoices(questions: unknown): Record<string, string> {
	const answers: Record<string, string> = {};
	for (const question of Array.isArray(questions) ? questions : []) {
		const options: unknown = isRecord(question) ? question["options"] : null;
		const first: unknown = Array.isArray(options) ? options[0] : null;
		if (isRecord(question) && isRecord(first)) answers[String(question["question"])] = String(first["label"]);
	}
	return answers;
}

/** Plays the script to its end; false when the lines ended before. */
export async function play(script: LifeScript, channel: Channel): Promise<boolean> {
	const isLegacy = script.dialect === "legacy";
	const send = (message: Fields): void => channel.write(toLine(message));
	let steered = false;
	let cancelled = false;

	const answer = ({ id, params }: DeliveredLine): void => {
		if (params?.type === "ToolCallRequest") {
			const value = { is_error: false, output: "blue", message: "", display: [] };
			send({ id, result: { tool_call_id: params.payload["id"], return_value: value } });
			return;
		}
		if (params?.type === "QuestionRequest") {
			send({ id, result: { request_id: id, answers: firstChoices(params.payload["questions"]) } });
			return;
		}
		if (script.steer !== null && !steered) {
			steered = true;
			send({ id: "steer", method: "steer", params: { user_input: script.steer } });
		}
		const { response, feedback } = script.decision;
		send({ id, result: isLegacy ? { response } : { request_id: id, response, feedback: feedback ?? "" } });
	};

	const until = async (wanted: string, cancels: boolean): Promise<boolean> => {
		for (let count = 1; ; count += 1) {
			const line = await channel.read();
			if (line === null) return false;
			const delivered = parseDelivered(line);
			if (delivered.method === "request" && wanted !== replayId) answer(delivered);
			if (delivered.method === null && delivered.id === wanted) return true;
			if (!cancels || cancelled || count !== script.cancelAfter) continue;
			cancelled = true;
			send({ id: "cancel", method: isLegacy ? "interrupt" : "cancel", params: {} });
		}
	};

	if (!isLegacy) {
		const tools = script.bringsTool ? { external_tools: [toolDeclaration] } : {};
		const able = { capabilities: { supports_question: true, supports_plan_mode: true } };
		const abilities = script.isAble ? able : {};
		send({ id: "initialize", method: "initialize", params: { protocol_version: "1.10", ...tools, ...abilities } });
		if (!(await until("initialize", false))) return false;
	}
	if (script.asksForReplay) {
		send({ id: replayId, method: "replay" });
		if (!(await until(replayId, false))) return false;
	}
	if (script.planMode !== null) {
		send({ id: "plan-mode", method: "set_plan_mode", params: { enabled: script.planMode } });
		if (!(await until("plan-mode", false))) return false;
	}
	for (const [index, text] of script.prompts.entries()) {
		const id = promptId(index);
		if (isLegacy) send({ id, method: "run", params: { input: text } });
		else send({ id, method: "prompt", params: { user_input: text } });
		if (!(await until(id, index === 0))) return false;
	}
	return true;
}
