import { describe, expect, it } from "vitest";
import { createDeferred } from "../../base/deferred.ts";
import { createLazyProcesses } from "./lazy-processes.ts";
import type { Processes, RunOutcome, RunRequest } from "./port.ts";

const request: RunRequest = { file: "/bin/true", arguments: [], workDir: "/", environment: {}, outputLimit: 0 };
const outcome: RunOutcome = {
	ended: { kind: "exited", exitCode: 0 },
	output: "",
	errorOutput: "",
	outputBytes: 0,
	truncated: false,
	spilledTo: null,
};
const { signal } = new AbortController();

function createSubject(load: (processes: Processes) => Promise<Processes>) {
	const done: string[] = [];
	const inner: Processes = {
		async run() {
			done.push("run");
			return outcome;
		},
		async endAll() {
			done.push("end");
		},
	};
	const processes = createLazyProcesses(() => {
		done.push("load");
		return load(inner);
	});
	return { processes, done };
}

describe("lazily loaded processes", () => {
	it("are loaded once, with the first run, and not for an end", async () => {
		const { processes, done } = createSubject(async (inner) => inner);
		await processes.endAll();
		expect(done).toEqual([]);
		expect(await processes.run(request, signal)).toEqual(outcome);
		await processes.run(request, signal);
		await processes.endAll();
		expect(done).toEqual(["load", "run", "run", "end"]);
	});

	it("end runs that were waiting for the loading", async () => {
		const loaded = createDeferred<void>();
		const { processes, done } = createSubject((inner) => loaded.promise.then(() => inner));
		const over = Promise.all([processes.run(request, signal), processes.endAll()]);
		loaded.resolve();
		await over;
		expect(done).toEqual(["load", "run", "end"]);
	});

	it("report a failed loading, end without error, and are loaded by the next run", async () => {
		let isFull = true;
		const { processes, done } = createSubject(async (inner) => {
			if (isFull) throw new Error("too many open files");
			return inner;
		});
		const running = processes.run(request, signal);
		await processes.endAll();
		expect(await running).toMatchObject({ ended: { kind: "not-started", reason: "too many open files" } });
		isFull = false;
		expect(await processes.run(request, signal)).toEqual(outcome);
		expect(done).toEqual(["load", "load", "run"]);
	});
});
