// Rows of the context log as lines of `context.jsonl` and back (wire-protocol §8.3, agent-kernel §13.4).
import * as v from "valibot";
import { toJsonLine } from "../base/json.ts";
import { type ContentPart, contentPartSchema, toolCallSchema } from "../events/content.ts";
import type { ContextRow, ConversationMessage } from "../events/conversation.ts";

const integer = v.pipe(v.number(), v.integer());
const optionalText = v.optional(v.nullable(v.string()), null);

const rowSchema = v.variant("role", [
	v.object({ role: v.literal("_system_prompt"), content: v.string() }),
	v.object({ role: v.literal("_checkpoint"), id: integer }),
	v.object({ role: v.literal("_usage"), token_count: integer }),
	v.object({
		role: v.picklist(["user", "assistant", "tool", "system"]),
		name: optionalText,
		content: v.optional(v.nullable(v.union([v.string(), v.array(contentPartSchema)])), null),
		tool_calls: v.optional(v.nullable(v.array(toolCallSchema)), null),
		tool_call_id: optionalText,
	}),
]);

/** The row a line holds; null for unknown roles and for shapes that do not fit. */
export function fromLine(line: Record<string, unknown> | null): ContextRow | null {
	const parsed = v.safeParse(rowSchema, line);
	if (!parsed.success) return null;
	const row = parsed.output;
	switch (row.role) {
		case "_system_prompt":
			return { type: "system-prompt", content: row.content };
		case "_checkpoint":
			return { type: "checkpoint", id: row.id };
		case "_usage":
			return { type: "usage", tokenCount: row.token_count };
		case "user":
		case "assistant":
		case "tool":
		case "system":
			return {
				type: "message",
				message: {
					role: row.role,
					content: toContent(row.content),
					...(row.tool_calls === null ? {} : { toolCalls: row.tool_calls }),
					...(row.tool_call_id === null ? {} : { toolCallId: row.tool_call_id }),
					...(row.name === null ? {} : { name: row.name }),
				},
			};
	}
}

function toContent(content: string | ContentPart[] | null): ContentPart[] {
	if (content === null) return [];
	return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** The line of a row, without its newline. */
export function toLine(row: ContextRow): string {
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

function toMessageLine({ role, name, content, toolCalls, toolCallId }: ConversationMessage): string {
	const [first, ...others] = content;
	return toJsonLine({
		role,
		// Undefined keys are left out of the line.
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
