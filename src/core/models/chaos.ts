// A faulty provider for client tests (`_chaos`, over `kimi`): most requests fail, and tool calls are garbled.
import { type Model, type ModelChunk, type ModelPart, modelFailure } from "./model.ts";

const failureRate = 0.8;
const garbleRate = 0.1;
const statusCodes = [429, 500, 503] as const;

export function withChaos(stream: Model["stream"], random: () => number = Math.random): Model["stream"] {
	return async function* (request, signal): AsyncGenerator<ModelChunk, void> {
		if (signal.aborted) return;
		if (random() < failureRate) {
			const statusCode = statusCodes[Math.floor(random() * statusCodes.length)] ?? 500;
			yield modelFailure("status", `Failed on purpose with status ${statusCode}.`, statusCode);
			return;
		}
		const garble = createGarbler(random);
		for await (const chunk of stream(request, signal)) {
			yield chunk.type === "parts" ? { ...chunk, parts: chunk.parts.map(garble) } : chunk;
		}
	};
}

/** Truncates the arguments of some calls, whole or in pieces. */
function createGarbler(random: () => number): (part: ModelPart) => ModelPart {
	let isGarbled = false;
	return (part) => {
		switch (part.type) {
			case "function": {
				isGarbled = random() < garbleRate;
				const given = part.function.arguments;
				if (!isGarbled || given === null) return part;
				return { ...part, function: { ...part.function, arguments: withoutEnd(given) } };
			}
			case "tool_call_part":
				return isGarbled ? { ...part, arguments_part: withoutEnd(part.arguments_part ?? "") } : part;
			case "text":
			case "think":
			case "image_url":
			case "audio_url":
			case "video_url":
				return part;
		}
	};
}

function withoutEnd(text: string): string {
	return text.slice(0, -1);
}
