// Limits the length of one answer, which stays in memory until it ends and is written and sent several times.
import { changedChunks } from "./chunk-streams.ts";
import { type Model, type ModelPart, modelFailure } from "./model.ts";

/** Maximum characters of an answer: text, reasoning and call arguments. Thirty times the longest real answers. */
export const sayingLimit = 16 * 1024 * 1024;

export function withLengthLimit(stream: Model["stream"]): Model["stream"] {
	return (request, signal) => {
		let said = 0;
		return changedChunks(stream(request, signal), (chunk) => {
			if (chunk.type === "parts") for (const part of chunk.parts) said += lengthOf(part);
			if (said <= sayingLimit) return chunk;
			const limit = `${sayingLimit / 1024 / 1024} million characters`;
			return modelFailure("provider", `The model's answer has more than ${limit}, and was cut off.`);
		});
	};
}

function lengthOf(part: ModelPart): number {
	switch (part.type) {
		case "text":
			return part.text.length;
		case "think":
			return part.think.length + (part.encrypted?.length ?? 0);
		case "function":
			return part.function.arguments?.length ?? 0;
		case "tool_call_part":
			return part.arguments_part?.length ?? 0;
		case "image_url":
		case "audio_url":
		case "video_url":
			return 0;
	}
}
