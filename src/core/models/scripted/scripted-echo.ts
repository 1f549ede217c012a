// Each request is answered by the next script of a queue.
import { toJsonLine } from "../../../base/json.ts";
import { type Capability, type Model, type ModelChunk, modelFailure } from "../model.ts";
import { streamEchoScript } from "./echo-stream.ts";

export interface ScriptedEchoSettings {
	readonly scripts: readonly string[];
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<Capability>;
	/** Called with each used script as one line without newline; null for no trace. */
	readonly trace: ((line: string) => void) | null;
}

/** A scripted model; `copy` takes the remaining queue and counter, and is then independent. */
export interface ScriptedEchoModel extends Model {
	copy(): ScriptedEchoModel;
}

/** Uses the next script at the first pull of each request, even if that script then fails. */
export function createScriptedEchoModel(settings: ScriptedEchoSettings): ScriptedEchoModel {
	return createFrom(settings, 0);
}

function createFrom(settings: ScriptedEchoSettings, consumedBefore: number): ScriptedEchoModel {
	const { scripts, maxContextSize, capabilities, trace } = settings;
	let consumed = consumedBefore;

	async function* stream(signal: AbortSignal): AsyncGenerator<ModelChunk, void> {
		if (signal.aborted) return;
		const script = scripts[consumed];
		if (script === undefined) {
			yield modelFailure("provider", `ScriptedEchoChatProvider exhausted at turn ${consumed + 1}.`);
			return;
		}
		consumed += 1;
		trace?.(`SCRIPTED_ECHO TURN ${consumed}: ${toJsonLine(script)}`);
		yield* streamEchoScript(script, signal);
	}

	return {
		name: "scripted_echo",
		maxContextSize,
		capabilities,
		stream: (_request, signal) => stream(signal),
		copy: () => createFrom(settings, consumed),
	};
}
