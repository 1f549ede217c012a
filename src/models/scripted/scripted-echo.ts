// The scripted model: answers from a queue of scripts, one for each request, whatever is asked.
// Reading the queue's file is load-scripts.ts; the language of a script is echo-language.ts.
import { toJsonLine } from "../../base/json.ts";
import { type Capability, type Model, type ModelChunk, modelFailure } from "../model.ts";
import { streamEchoScript } from "./echo-stream.ts";

export interface ScriptedEchoSettings {
	readonly scripts: readonly string[];
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<Capability>;
	/** Told of each script as it is taken, as one line without newline; null for silence. */
	readonly trace: ((line: string) => void) | null;
}

/** A scripted model; `copy` has the remaining queue and the counter, and goes its own way from there. */
export interface ScriptedEchoModel extends Model {
	copy(): ScriptedEchoModel;
}

/** A model that takes the next script with the first pull of each request, also when that script then fails. */
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
