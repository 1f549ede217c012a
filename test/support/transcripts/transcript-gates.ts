// A scripted model that stops where its script says `# gate`, until the conversation says `open gate`.
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import type { Model, ModelChunk } from "../../../src/core/models/model.ts";
import { streamEchoScript } from "../../../src/core/models/scripted/echo-stream.ts";

export interface GatedModel {
	readonly model: Model;
	/** Opens the gate at which the model stands or will stand next. */
	open(): void;
}

export function createGatedModel(scripts: readonly string[]): GatedModel {
	let consumed = 0;
	let passed = 0;
	const gates: Deferred<void>[] = [];
	const gate = (index: number): Deferred<void> => {
		gates[index] ??= createDeferred<void>();
		return gates[index];
	};
	let opened = 0;

	async function* stream(signal: AbortSignal): AsyncGenerator<ModelChunk, void> {
		const pieces = (scripts[consumed] ?? "").split(/^# gate$/m);
		consumed += 1;
		for (const [index, piece] of pieces.entries()) {
			if (index > 0) {
				passed += 1;
				await Promise.race([gate(passed - 1).promise, aborted(signal)]);
			}
			if (signal.aborted) return;
			for await (const chunk of streamEchoScript(piece, signal)) {
				if (chunk.type !== "done" || index === pieces.length - 1) yield chunk;
				if (chunk.type === "failed") return;
			}
		}
	}

	return {
		model: {
			name: "gated",
			maxContextSize: 100_000,
			capabilities: new Set(),
			stream: (_request, signal) => stream(signal),
		},
		open() {
			gate(opened).resolve();
			opened += 1;
		},
	};
}

function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
