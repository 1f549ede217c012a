// Some servers split deltas within a surrogate pair; strict clients and providers refuse lone surrogates.
import { toWellFormed } from "../../base/text/well-formed.ts";
import { changedChunks } from "./chunk-streams.ts";
import type { Model, ModelPart } from "./model.ts";

/** Parts of one kind continue each other if consecutive. */
type Kind = "text" | "think" | "arguments";

/** The first half of a pair waits for the next part of its kind; a lone half becomes U+FFFD. */
export function withWholeCharacters(stream: Model["stream"]): Model["stream"] {
	return (request, signal) => {
		const whole = createCharacters();
		return changedChunks(stream(request, signal), (chunk) =>
			chunk.type === "parts" ? { type: "parts", parts: chunk.parts.flatMap(whole) } : chunk,
		);
	};
}

function createCharacters(): (part: ModelPart) => readonly ModelPart[] {
	let waiting: { readonly kind: Kind; readonly half: string } | null = null;

	/** The text to emit now; empty if all of it waits. */
	const take = (kind: Kind, text: string): string => {
		const joined = (waiting?.kind === kind ? waiting.half : "") + text;
		waiting = /[\ud800-\udbff]$/.test(joined) ? { kind, half: joined.slice(-1) } : null;
		const said = waiting === null ? joined : joined.slice(0, -1);
		return toWellFormed(said);
	};
	/** Emits a waiting half as U+FFFD before a part of another kind. */
	const left = (kind: Kind | null): ModelPart[] => {
		if (waiting === null || waiting.kind === kind) return [];
		const lost = toPart(waiting.kind, "\ufffd");
		waiting = null;
		return [lost];
	};

	return (part) => {
		switch (part.type) {
			case "text":
			case "think": {
				const given = part.type === "text" ? part.text : part.think;
				if (given === "") return [part];
				const before = left(part.type);
				const said = take(part.type, given);
				if (said === given) return before.length === 0 ? [part] : [...before, part];
				const rest = part.type === "text" ? { ...part, text: said } : { ...part, think: said };
				return said === "" ? before : [...before, rest];
			}
			case "function": {
				const before = left(null);
				const { arguments: given } = part.function;
				const said = given === null || given === "" ? given : take("arguments", given) || null;
				return [...before, said === given ? part : { ...part, function: { ...part.function, arguments: said } }];
			}
			case "tool_call_part": {
				if (part.arguments_part === null) return [part];
				const said = take("arguments", part.arguments_part);
				if (said === part.arguments_part) return [part];
				return said === "" ? [] : [{ ...part, arguments_part: said }];
			}
			case "image_url":
			case "audio_url":
			case "video_url":
				return [...left(null), part];
		}
	};
}

function toPart(kind: Kind, text: string): ModelPart {
	switch (kind) {
		case "text":
			return { type: "text", text };
		case "think":
			return { type: "think", think: text, encrypted: null };
		case "arguments":
			return { type: "tool_call_part", arguments_part: text };
	}
}
