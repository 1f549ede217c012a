// Repairs slightly malformed messages before the library parses them, and unifies reports of a lost session.
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { isNestedWithin } from "../../../base/json.ts";
import type { OpenRequests } from "./open-requests.ts";
import { depthLimit, failUnreadable, failureOf, parseLenient, repairMessage } from "./repaired-message.ts";

/** Start of the error message for an unknown session. */
const lostSession = "the server no longer knows the session";

export function isLostSession(message: string): boolean {
	return message.startsWith(lostSession);
}

export interface AnswerContext {
	readonly open: OpenRequests;
	readonly hasSession: boolean;
}

export function repairResponse(response: Response, context: AnswerContext): Response {
	const { status, statusText, headers, body } = response;
	// With a challenge, the user has to sign in.
	const isLost = status === 410 || (status === 401 && !headers.has("www-authenticate"));
	if (context.hasSession && isLost) return new Response(body, { status: 404, statusText, headers });
	const type = headers.get("content-type") ?? "";
	const isStream = type.includes("text/event-stream");
	if (body === null || !response.ok || !(isStream || (context.open.isExchange && type.includes("json"))))
		return response;
	return new Response(body.pipeThrough(isStream ? repairEvents(context) : repairJson(context)), {
		status,
		statusText,
		headers,
	});
}

type Repair = TransformStream<Uint8Array, Uint8Array>;

function repairJson(context: AnswerContext): Repair {
	const decoder = new TextDecoder();
	const pieces: string[] = [];
	return new TransformStream({
		transform(bytes) {
			pieces.push(decoder.decode(bytes, { stream: true }));
		},
		flush(controller) {
			pieces.push(decoder.decode());
			controller.enqueue(new TextEncoder().encode(repairText(pieces.join(""), context)));
		},
	});
}

function repairEvents(context: AnswerContext): Repair {
	const decoder = new TextDecoder();
	const encoder = new TextEncoder();
	let data: string[] = [];
	let others: string[] = [];
	let pieces: string[] = [];
	let isAfterReturn = false;
	const endEvent = (): string => {
		const text = data.length === 0 ? "" : repairText(data.join("\n"), context);
		const lines = [...others, ...(data.length === 0 ? [] : text.split("\n").map((line) => `data: ${line}`))];
		data = [];
		others = [];
		return lines.length === 0 ? "" : `${lines.join("\n")}\n\n`;
	};
	const read = (line: string): string => {
		if (line === "") return endEvent();
		const [field, value = ""] = line.startsWith("data") ? splitField(line) : [""];
		if (field === "data") data.push(value);
		else others.push(line);
		return "";
	};
	return new TransformStream({
		transform(bytes, controller) {
			const decoded = decoder.decode(bytes, { stream: true });
			const text = isAfterReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
			if (decoded !== "") isAfterReturn = decoded.endsWith("\r");
			const lines = text.split(/\r\n|\r|\n/);
			const rest = lines.pop() ?? "";
			const [first, ...further] = lines;
			let repaired = "";
			if (first !== undefined) {
				repaired = [pieces.join("") + first, ...further].map(read).join("");
				pieces = [];
			}
			if (rest !== "") pieces.push(rest);
			if (repaired !== "") controller.enqueue(encoder.encode(repaired));
		},
		flush(controller) {
			const last = read(pieces.join("") + decoder.decode()) + endEvent();
			if (last !== "") controller.enqueue(encoder.encode(last));
		},
	});
}

function splitField(line: string): [string, string] {
	const colon = line.indexOf(":");
	return colon < 0
		? [line, ""]
		: [line.slice(0, colon), line.slice(line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1)];
}

/** Returns the same text if no repair is needed. */
function repairText(text: string, context: AnswerContext): string {
	const { open } = context;
	const value = parseLenient(text);
	if (value === undefined) {
		const failure = failUnreadable(text, open);
		return failure === null ? text : settle(failure, text, context);
	}
	if (!Array.isArray(value)) return repairValue(value, text, context) ?? text;
	const repaired = value
		.map((each) => repairValue(each, JSON.stringify(each), context))
		.filter((each) => each !== null);
	return repaired.length === 0 ? text : `[${repaired.join(",")}]`;
}

function repairValue(value: unknown, text: string, context: AnswerContext): string | null {
	const message = repairMessage(value, context.open);
	if (message === null || ("method" in message && !isNestedWithin(value, depthLimit))) return null;
	return settle(message, text, context);
}

function settle(message: JSONRPCMessage, text: string, { open, hasSession }: AnswerContext): string {
	if ("method" in message || message.id === undefined) return JSON.stringify(message);
	open.answered(message.id, text);
	if (!hasSession || !("error" in message) || !meansLostSession(message.error.message)) return JSON.stringify(message);
	return JSON.stringify(failureOf(message.id, `${lostSession}: ${message.error.message}`));
}

const subject = /\bsession\b/i;
const loss = /not found|unknown|invalid|no valid|expired|terminated|does not exist|no longer|missing|closed/i;
const uninitialized = /\bnot (?:been |yet )?initiali[sz]ed\b|\bbefore initiali[sz]ation\b/i;

function meansLostSession(error: string): boolean {
	return (subject.test(error) && loss.test(error)) || uninitialized.test(error);
}
