// kimi-cli bridges parse Python's representation of every message. Prints durable events, which are merged.

import type { AgentEvent, EventBodyOf } from "../../api/values/event.ts";
import { isRecord } from "../../base/json.ts";
import type { Message } from "../../formats/message.ts";
import { toMessage, wrapForSubagent } from "../../formats/message-conversion.ts";
import type { Printer, Write } from "./printer.ts";
import { floatText, foldText, layOut, type PythonValue, quote } from "./python-text.ts";
import { membersOf, resultClass } from "./repr-results.ts";

const left: ReadonlySet<AgentEvent["body"]["type"]> = new Set([
	"content.delta",
	"tool-call.started",
	"tool-call.delta",
	"interaction.requested",
	"interaction.resolved",
	"side-question.started",
]);

/** Prints a prompt before its turn, as kimi-cli does. */
export function createReprPrinter(write: Write): Printer {
	const tools = new Map<string, string>();
	return {
		take({ body, agentPath }) {
			if (left.has(body.type)) return;
			if (body.type === "tool.requested") tools.set(body.call.id, body.call.function.name);
			if (body.type === "tool.result" && agentPath.length === 0) {
				const { toolCallId, result } = body;
				const name = resultClass(tools.get(toolCallId), result);
				tools.delete(toolCallId);
				write(layOut(toResult(toolCallId, name, { ...result, ...membersOf(name, result) })));
				return;
			}
			if (body.type === "side-question.ended") {
				if (agentPath.length === 0) write(`${body.response ?? `Error: ${body.error ?? ""}`}\n`);
				return;
			}
			const message = toMessage(body.type === "step.retrying" ? withoutReason(body) : body);
			if (message === null) return;
			if (body.type === "turn.started" && agentPath.length === 0 && typeof body.input === "string") {
				write(foldText(body.input));
			}
			write(layOut(toObject(wrapForSubagent(message, agentPath))));
		},
		fail: ({ message }) => write(foldText(message)),
	};
}

/** kimi-cli's object has no reason. */
function withoutReason({ reason: _, ...body }: EventBodyOf<"step.retrying">): EventBodyOf<"step.retrying"> {
	return body;
}

const partNames: Readonly<Record<string, string>> = {
	text: "TextPart",
	think: "ThinkPart",
	image_url: "ImageURLPart",
	audio_url: "AudioURLPart",
	video_url: "VideoURLPart",
};

const mediaNames: Readonly<Record<string, string>> = {
	image_url: "ImageURL",
	audio_url: "AudioURL",
	video_url: "VideoURL",
};

const blockNames: Readonly<Record<string, string>> = {
	brief: "BriefDisplayBlock",
	diff: "DiffDisplayBlock",
	todo: "TodoDisplayBlock",
	shell: "ShellDisplayBlock",
	background_task: "BackgroundTaskDisplayBlock",
};

/** The class of the object in a field, if constant. */
const fieldNames: Readonly<Record<string, string>> = {
	token_usage: "TokenUsage",
	mcp_status: "MCPStatusSnapshot",
	servers: "MCPServerSnapshot",
	function: "FunctionBody",
	return_value: "ToolReturnValue",
	items: "TodoDisplayItem",
	...mediaNames,
};

const floats: ReadonlySet<string> = new Set(["context_usage", "wait_s", "created_at"]);

const dictionaries: ReadonlySet<string> = new Set(["payload", "data", "extras"]);

function toObject({ type, payload }: Message): PythonValue {
	const name = type === "ContentPart" && "type" in payload ? (partNames[String(payload.type)] ?? type) : type;
	return { kind: "object", name, fields: toFields(payload) };
}

function toResult(toolCallId: string, name: string, result: object): PythonValue {
	const returned: PythonValue = { kind: "object", name, fields: toFields(result) };
	return {
		kind: "object",
		name: "ToolResult",
		fields: [
			["tool_call_id", toPlain(toolCallId)],
			["return_value", returned],
		],
	};
}

const toFields = (value: object) =>
	Object.entries(value).map(([key, field]): readonly [string, PythonValue] => [key, toField(key, field)]);

function toField(key: string, value: unknown): PythonValue {
	if (typeof value === "number" && floats.has(key)) return { kind: "text", text: floatText(value) };
	if (dictionaries.has(key)) return toPlain(value);
	if (Array.isArray(value)) return { kind: "list", items: value.map((item) => toField(key, item)) };
	if (!isRecord(value)) return toPlain(value);
	if (key === "event" && typeof value["type"] === "string" && isRecord(value["payload"])) {
		return toObject({ type: value["type"], payload: value["payload"] });
	}
	return { kind: "object", name: nameOf(key, value), fields: toFields(value) };
}

function nameOf(key: string, value: Readonly<Record<string, unknown>>): string {
	const type = String(value["type"]);
	if (key === "display") return blockNames[type] ?? "UnknownDisplayBlock";
	return fieldNames[key] ?? partNames[type] ?? type;
}

function toPlain(value: unknown): PythonValue {
	if (Array.isArray(value)) return { kind: "list", items: value.map(toPlain) };
	if (isRecord(value))
		return { kind: "dict", entries: Object.entries(value).map(([key, entry]) => [key, toPlain(entry)]) };
	return { kind: "text", text: toSingle(value) };
}

function toSingle(value: unknown): string {
	if (value === null || value === undefined) return "None";
	if (typeof value === "boolean") return value ? "True" : "False";
	return typeof value === "string" ? quote(value) : String(value);
}
