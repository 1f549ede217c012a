// Loads the sandbox code on first use: most runs never need it.
import type { Sandbox } from "./sandbox.ts";

export interface LazySandbox {
	get(): Promise<Sandbox>;
	/** Ends sandbox services, if it was used. */
	close(): Promise<void>;
}

/** Retries on the next use after a load failure. */
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
