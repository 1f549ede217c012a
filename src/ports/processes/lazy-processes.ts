// Loads the code for child processes with the first child: most starts never run one.
import { errorText } from "../../base/errors.ts";
import type { Processes } from "./port.ts";

/** Loads with the first run; after a failure to load the next run retries. */
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
			// If they could not be loaded nothing runs.
			const processes = await loading?.catch(() => null);
			await processes?.endAll();
		},
	};
}
