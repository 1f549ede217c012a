// The echo model answers with the script in the last message, which must be the user's.
import { joinTexts } from "../../../api/values/content.ts";
import { type Capability, type Model, type ModelChunk, type ModelRequest, modelFailure } from "../model.ts";
import { streamEchoScript } from "./echo-stream.ts";

export interface EchoSettings {
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<Capability>;
}

export function createEchoModel(settings: EchoSettings): Model {
	const { maxContextSize, capabilities } = settings;
	return { name: "echo", maxContextSize, capabilities, stream: streamEcho };
}

async function* streamEcho(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk, void> {
	if (signal.aborted) return;
	const message = request.messages.at(-1);
	if (message?.role !== "user") {
		yield modelFailure("provider", "The echo model needs a last message that is the user's.");
		return;
	}
	// A script consists of lines, so separately sent parts must not share one.
	const script = joinTexts(message.content, "\n");
	yield* streamEchoScript(script, signal);
}
