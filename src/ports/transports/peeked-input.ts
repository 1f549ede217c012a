// An input whose first bytes are looked at before anybody reads it. No more than that is read ahead.
import type { ByteInput } from "./descriptor-input.ts";

export interface PeekedInput extends ByteInput {
	/** The first bytes, which the listener for bytes is given again; null when the input ended before. */
	readonly first: Promise<Buffer | null>;
}

/** Begins to read the input at once. */
export function createPeekedInput(input: ByteInput): PeekedInput {
	let waiting: Buffer | null = null;
	let deliver: ((bytes: Buffer) => void) | null = null;
	let state: "open" | "ending" | "ended" = "open";
	const endListeners: (() => void)[] = [];
	const endUnlessWaiting = (): void => {
		if (state !== "ending" || waiting !== null) return;
		state = "ended";
		for (const listener of endListeners) listener();
	};
	const first = new Promise<Buffer | null>((resolve) => {
		input.on("data", (bytes) => {
			if (deliver !== null) return deliver(bytes);
			waiting = bytes;
			input.pause();
			resolve(bytes);
		});
		const end = (): void => {
			resolve(null);
			if (state === "open") state = "ending";
			endUnlessWaiting();
		};
		input.on("end", end);
		input.on("error", end);
		input.on("close", end);
	});
	const hand = (listener: (bytes: Buffer) => void): void => {
		deliver = listener;
		const bytes = waiting;
		waiting = null;
		if (bytes === null) return;
		// First: the listener may pause it again.
		input.resume();
		listener(bytes);
		endUnlessWaiting();
	};
	const on: ByteInput["on"] = (event: string, listener: (bytes: Buffer) => void) => {
		if (event === "data") queueMicrotask(() => hand(listener));
		else endListeners.push(() => listener(Buffer.alloc(0)));
	};
	return {
		first,
		on,
		pause: () => input.pause(),
		resume: () => input.resume(),
		destroy: () => input.destroy(),
		get destroyed() {
			return state === "ended" || (input.destroyed && waiting === null);
		},
	};
}
