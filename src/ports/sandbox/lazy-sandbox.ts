// Loads the code of the sandbox with its first use: most starts never need it.
import type { Sandbox } from "./sandbox.ts";

export interface LazySandbox {
	get(): Promise<Sandbox>;
	/** Ends what the sandbox runs; nothing if it was never used. */
	close(): Promise<void>;
}

/** After a failure to load, the next use tries again. */
export function createLazySandbox(load: () => Promise<Sandbox>): LazySandbox {
	let loading: Promise<Sandbox> | null = null;
	return {
		get() {
			loading ??= load().catch((thrown: unknown) => {
				loading = null;
				throw thrown;
			});
			return loading;
		},
		async close() {
			await (await loading?.catch(() => null))?.close();
		},
	};
}
