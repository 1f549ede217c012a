import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasBubblewrap } from "../../../test/support/executable/bubblewrap.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createProcesses, type ProcessesOptions } from "./children.ts";
import type { ChildInput, Processes } from "./port.ts";

let directory = "";

beforeEach(async () => {
	directory = await mkdtemp(path.join(tmpdir(), "conversation-"));
});
afterEach(async () => {
	await rm(directory, { recursive: true, force: true });
});

/** A script that is being spoken to. */
function speakTo(script: string, processes: Processes) {
	const end = new AbortController();
	const begun = createDeferred<ChildInput>();
	const heard = { output: "", error: "" };
	let wake = () => {};
	const outcome = processes.run(
		{
			file: "/bin/bash",
			arguments: ["-c", script],
			workDir: directory,
			environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
			outputLimit: 0,
			conversation: {
				begin: begun.resolve,
				hear(source, bytes) {
					heard[source] += bytes.toString("utf8");
					wake();
				},
			},
		},
		end.signal,
	);
	const hears = async (fits: () => boolean) => {
		while (!fits()) {
			await new Promise<void>((resolve) => {
				wake = resolve;
			});
		}
	};
	return { input: begun.promise, heard, hears, outcome, end };
}

const isAlive = (processId: number) => {
	try {
		return !readFileSync(`/proc/${processId}/stat`, "utf8").includes(") Z ");
	} catch {
		return false;
	}
};

const modes: readonly NonNullable<ProcessesOptions["contain"]>[] = hasBubblewrap() ? ["off", "auto"] : ["off"];

describe.each(modes)("child stdio with containment %s", (contain) => {
	it("sends and receives lines until the input is closed", async () => {
		const { input, heard, hears, outcome } = speakTo(
			'while read -r line; do echo "<$line>"; echo "!$line" >&2; done; echo over; exit 3',
			createProcesses({ contain }),
		);
		const child = await input;
		await child.write("one\n");
		await hears(() => heard.output === "<one>\n" && heard.error === "!one\n");
		await child.write("two\n");
		await hears(() => heard.output === "<one>\n<two>\n");
		child.close();
		expect(await outcome).toMatchObject({ ended: { kind: "exited", exitCode: 3 }, output: "", truncated: false });
		expect(heard).toEqual({ output: "<one>\n<two>\nover\n", error: "!one\n!two\n" });
		await expect(child.write("three\n")).rejects.toThrow();
	});

	it("transfers more than a pipe buffers", async () => {
		const { input, heard, outcome } = speakTo("cat", createProcesses({ contain }));
		const child = await input;
		await child.write(`${"x".repeat(3_000_000)}\n`);
		child.close();
		await outcome;
		expect(heard.output).toHaveLength(3_000_001);
	});

	it("ends at an abort, with all descendants of the child", async () => {
		const file = path.join(directory, "pid");
		const { heard, hears, outcome, end } = speakTo(
			`setsid bash -c 'echo $$ > ${file}; exec sleep 300' & until [ -s ${file} ]; do sleep 0.01; done; echo up; wait`,
			createProcesses({ contain }),
		);
		await hears(() => heard.output === "up\n");
		end.abort();
		expect((await outcome).ended).toEqual({ kind: "aborted" });
		// In a namespace of its own it has another id outside, and went with the namespace.
		if (contain === "off" && existsSync("/proc/self")) expect(isAlive(Number(readFileSync(file, "utf8")))).toBe(false);
	});

	it("ends with all children", async () => {
		const processes = createProcesses({ contain });
		const { input, outcome } = speakTo("trap '' TERM; while :; do sleep 0.1; done", processes);
		await input;
		await processes.endAll();
		expect((await outcome).ended).toEqual({ kind: "aborted" });
	});

	it("rejects a child that cannot be started", async () => {
		const processes = createProcesses({ contain });
		const begun = createDeferred<void>();
		const { ended } = await processes.run(
			{
				file: "/no/such/program",
				arguments: [],
				workDir: directory,
				environment: {},
				outputLimit: 0,
				conversation: { begin: () => begun.reject(new Error("It began.")), hear: () => undefined },
			},
			new AbortController().signal,
		);
		begun.resolve();
		await begun.promise;
		expect(ended).toMatchObject({ kind: "not-started", reason: expect.stringContaining("ENOENT") });
	});
});
