// Streams one script as a model's answer, without delay and in batches.
import { type ModelChunk, modelFailure } from "../model.ts";
import { type EchoScript, parseEchoScript } from "./echo-language.ts";
import { EchoScriptError } from "./echo-payload.ts";

/** Parts per chunk: enough to make long scripts cheap, few enough to notice an abort. */
const batchSize = 64;

/** The chunks of a script. An invalid script or a simulated error is one `failed` chunk. */
export async function* streamEchoScript(script: string, signal: AbortSignal): AsyncGenerator<ModelChunk, void> {
	const read = readScript(script);
	if (signal.aborted) return;
	if (read.type === "failed") {
		yield read;
		return;
	}
	const { parts, usage, messageId, end } = read.script;
	for (let start = 0; start < parts.length; start += batchSize) {
		yield { type: "parts", parts: parts.slice(start, start + batchSize) };
		if (signal.aborted) return;
	}
	yield { type: "done", usage, messageId, ...(end === null ? {} : { end }) };
}

type ReadScript = { readonly type: "script"; readonly script: EchoScript } | Extract<ModelChunk, { type: "failed" }>;

function readScript(script: string): ReadScript {
	try {
		return { type: "script", script: parseEchoScript(script) };
	} catch (thrown) {
		if (thrown instanceof EchoScriptError) return { type: "failed", failure: thrown.failure };
		return modelFailure("defect", String(thrown));
	}
}
