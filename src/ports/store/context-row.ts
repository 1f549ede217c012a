// Converts context log rows to `context.jsonl` lines and back (wire-protocol §8.3, agent-kernel §13.4).
import * as v from "valibot";
import { type ContentPart, contentPartSchema, textPartSchema, toolCallSchema } from "../../api/values/content.ts";
import type { ContextRow, HistoryEntry, MessageRole } from "../../api/values/conversation.ts";
import { isRecord } from "../../base/json.ts";
import { type LineText, toLineText } from "../../base/text/long-text.ts";

const integer = v.pipe(v.number(), v.integer());
const optionalText = v.optional(v.nullable(v.string()), null);

// A long session has thousands of rows: validate each against the schema for its role and part types only.
const promptSchema = v.object({ content: v.string() });
const checkpointSchema = v.object({ id: integer });
const usageSchema = v.object({ token_count: integer });
const messageSchema = v.object({
	name: optionalText,
	content: v.unknown(),
	tool_calls: v.optional(v.nullable(v.array(toolCallSchema)), null),
	tool_call_id: optionalText,
});

export function fromLine(line: Record<string, unknown> | null): ContextRow | null {
	const role = line?.["role"];
	switch (role) {
		case "_system_prompt":
			return rowOf(promptSchema, line, ({ content }) => ({ type: "system-prompt", content }));
		case "_checkpoint":
			return rowOf(checkpointSchema, line, ({ id }) => ({ type: "checkpoint", id }));
		case "_usage":
			return rowOf(usageSchema, line, ({ token_count }) => ({ type: "usage", tokenCount: token_count }));
		case "user":
		case "assistant":
		case "tool":
		case "system":
			return rowOf(messageSchema, line, (message) => toMessageRow(role, message));
		default:
			return null;
	}
}

function rowOf<Schema extends v.GenericSchema>(
	schema: Schema,
	line: unknown,
	toRow: (value: v.InferOutput<Schema>) => ContextRow | null,
): ContextRow | null {
	const parsed = v.safeParse(schema, line);
	return parsed.success ? toRow(parsed.output) : null;
}

function toMessageRow(
	role: MessageRole,
	{ name, content, tool_calls, tool_call_id }: v.InferOutput<typeof messageSchema>,
): ContextRow | null {
	const parts = toContent(content);
	if (parts === null) return null;
	return {
		type: "message",
		message: {
			role,
			content: parts,
			...(tool_calls === null ? {} : { toolCalls: tool_calls }),
			...(tool_call_id === null ? {} : { toolCallId: tool_call_id }),
			...(name === null ? {} : { name }),
		},
	};
}

function toContent(content: unknown): ContentPart[] | null {
	if (content === null || content === undefined) return [];
	if (typeof content === "string") return [{ type: "text", text: content }];
	if (!Array.isArray(content)) return null;
	const parts: ContentPart[] = [];
	for (const value of content) {
		const part = toPart(value);
		if (part === null) return null;
		parts.push(part);
	}
	return parts;
}

function toPart(value: unknown): ContentPart | null {
	const parsed = v.safeParse(isRecord(value) && value["type"] === "text" ? textPartSchema : contentPartSchema, value);
	return parsed.success ? parsed.output : null;
}

export function toLine(row: ContextRow): LineText {
	switch (row.type) {
		case "system-prompt":
			return `{"role": "_system_prompt", "content": ${toAsciiJson(row.content)}}`;
		case "checkpoint":
			return `{"role": "_checkpoint", "id": ${row.id}}`;
		case "usage":
			return `{"role": "_usage", "token_count": ${row.tokenCount}}`;
		case "message":
			return toMessageLine(row.message);
	}
}

function toMessageLine({ role, name, content, toolCalls, toolCallId }: HistoryEntry): LineText {
	const [first, ...others] = content;
	return toLineText({
		role,
		// Undefined keys are omitted.
		name,
		content: first?.type === "text" && others.length === 0 ? first.text : content,
		tool_calls: toolCalls?.map(({ extras, ...call }) => (extras === null ? call : { ...call, extras })),
		tool_call_id: toolCallId,
	});
}

/** Control rows are pure ASCII. */
function toAsciiJson(text: string): string {
	return JSON.stringify(text).replace(
		/[\u007f-\uffff]/g,
		(unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}
