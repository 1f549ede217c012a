import { type ContentPart, isBlankText, type ToolCall } from "../../api/values/content.ts";
import { withArguments } from "../../api/values/delta-merger.ts";
import type { ModelPart } from "../models/model.ts";

export interface Assembly {
	push(part: ModelPart): ToolCall | null;
	end(): ToolCall | null;
	content(): readonly ContentPart[];
	toolCalls(): readonly ToolCall[];
	/** Whether the answer has no content and no call, or only reasoning. */
	isEmpty(): boolean;
}

export function createAssembly(): Assembly {
	const content: ContentPart[] = [];
	const toolCalls: ToolCall[] = [];
	let openCall: { call: ToolCall; pieces: string[] } | null = null;
	let open: { part: ContentPart; pieces: string[] } | null = null;

	const endContent = () => {
		if (open !== null) content.push(mergedPart(open.part, open.pieces));
		open = null;
	};
	const endCall = (): ToolCall | null => {
		if (openCall === null) return null;
		const call = withArguments(openCall.call, openCall.pieces);
		openCall = null;
		toolCalls.push(call);
		return call;
	};

	return {
		push(part) {
			if (part.type === "tool_call_part") {
				// Drops a continuation without a preceding tool call.
				if (openCall !== null && part.arguments_part !== null) openCall.pieces.push(part.arguments_part);
				return null;
			}
			if (part.type === "function") {
				endContent();
				const completed = endCall();
				openCall = { call: part, pieces: [] };
				return completed;
			}
			const completed = endCall();
			const piece = open === null ? null : mergeablePiece(open.part, part);
			if (open !== null && piece !== null) {
				open.pieces.push(piece);
				if (part.type === "think") open.part = part;
			} else {
				endContent();
				open = { part, pieces: [firstPiece(part)] };
			}
			return completed;
		},
		end() {
			endContent();
			return endCall();
		},
		content: () => content,
		toolCalls: () => toolCalls,
		isEmpty() {
			if (toolCalls.length > 0) return false;
			const thinks = content.some((part) => part.type === "think");
			const speaks = content.some((part) => part.type !== "think" && !isBlankText(part));
			return content.length === 0 || (thinks && !speaks);
		},
	};
}

function firstPiece(part: ContentPart): string {
	if (part.type === "text") return part.text;
	return part.type === "think" ? part.think : "";
}

/** The text to append if `next` continues `part`; else null. Signed reasoning is complete. */
function mergeablePiece(part: ContentPart, next: ContentPart): string | null {
	if (part.type === "text" && next.type === "text") return next.text;
	if (part.type === "think" && next.type === "think" && part.encrypted === null) return next.think;
	return null;
}

function mergedPart(part: ContentPart, pieces: readonly string[]): ContentPart {
	if (part.type === "text") return { type: "text", text: pieces.join("") };
	if (part.type === "think") return { type: "think", think: pieces.join(""), encrypted: part.encrypted };
	return part;
}
