import { errorText } from "../../base/errors.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import type { Processes } from "./port.ts";

export function createLazyProcesses(load: () => Promise<Processes>): Processes {
	const loading = new OnFirstUse(load);
	return {
		async run(request, signal) {
			let processes: Processes;
			try {
				processes = await loading.get();
			} catch (thrown) {
				const nothing = { output: "", errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };
				return { ended: { kind: "not-started", reason: errorText(thrown) }, ...nothing };
			}
			return await processes.run(request, signal);
		},
		async endAll() {
			await (await loading.made())?.endAll();
		},
	};
}
