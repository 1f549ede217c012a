// Loads the child process code with the first child: most runs start none.
import { errorText } from "../../base/errors.ts";
import type { Processes } from "./port.ts";

/** Loads on the first run, and retries on the next run after a failure. */
export function createLazyProcesses(load: () => Promise<Processes>): Processes {
	let loading: Promise<Processes> | null = null;
	const loaded = (): Promise<Processes> => {
		loading ??= load().catch((thrown: unknown) => {
			loading = null;
			throw thrown;
		});
		return loading;
	};
	return {
		async run(request, signal) {
			let processes: Processes;
			try {
				processes = await loaded();
			} catch (thrown) {
				const nothing = { output: "", errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };
				return { ended: { kind: "not-started", reason: errorText(thrown) }, ...nothing };
			}
			return await processes.run(request, signal);
		},
		async endAll() {
			// If loading failed, nothing is running.
			const processes = await loading?.catch(() => null);
			await processes?.endAll();
		},
	};
}
