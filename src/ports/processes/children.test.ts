import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasBubblewrap } from "../../../test/support/executable/bubblewrap.ts";
import { systemClock } from "../../base/clock.ts";
import { createProcesses as createAnyProcesses, type ProcessesOptions } from "./children.ts";
import type { OpenOutputSink, RunRequest } from "./port.ts";
import { findStragglers, markerVariable, type ProcessTable, sweepStragglers } from "./stragglers.ts";

const never = new AbortController().signal;
let directory = "";

beforeEach(async () => {
	directory = await mkdtemp(path.join(tmpdir(), "processes-"));
});
afterEach(async () => {
	await rm(directory, { recursive: true, force: true });
});

const openSink: OpenOutputSink = async (file) => ({
	append: (text) => appendFile(file, text),
	close: async () => undefined,
});

function bash(script: string, extra: Partial<RunRequest> = {}): RunRequest {
	return {
		file: "/bin/bash",
		arguments: ["-c", script],
		workDir: directory,
		environment: { PATH: "/usr/local/bin:/usr/bin:/bin", TEST_DIRECTORY: directory },
		outputLimit: 10_000,
		...extra,
	};
}

/** Whether any process of this test is there. Its own process id is of no use for one in a namespace. */
async function isAlive(processId: number): Promise<boolean> {
	if (existsSync("/proc/self")) return aliveProcesses().length > 0;
	try {
		process.kill(processId, 0);
		return true;
	} catch {
		return false;
	}
}

/** The commands that have this test's directory in their environment. A zombie has none. */
function aliveProcesses(): string[] {
	return readdirSync("/proc").flatMap((name) => {
		try {
			if (!readFileSync(`/proc/${name}/environ`, "latin1").includes(`TEST_DIRECTORY=${directory}`)) return [];
			return [readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ")];
		} catch {
			return [];
		}
	});
}

const modes: readonly NonNullable<ProcessesOptions["contain"]>[] = hasBubblewrap() ? ["off", "auto"] : ["off"];

/** The process id that a script leaves in a file, as soon as it is there. */
async function processIdIn(name: string): Promise<number> {
	while (true) {
		const text = await readFile(path.join(directory, name), "utf8").catch(() => "");
		if (text.endsWith("\n")) return Number(text);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

describe.each(modes)("with containment %s", (contain) => {
	const createProcesses = (options: ProcessesOptions = {}) => createAnyProcesses({ contain, ...options });

	describe("run", () => {
		it("returns exit code and output of both streams", async () => {
			const outcome = await createProcesses().run(bash("echo one; echo two >&2; exit 3"), never);
			expect(outcome).toMatchObject({
				ended: { kind: "exited", exitCode: 3 },
				errorOutput: "",
				outputBytes: 8,
				truncated: false,
				spilledTo: null,
			});
			expect(outcome.output.split("\n").sort()).toEqual(["", "one", "two"]);
		});

		it("returns stderr separately when requested", async () => {
			const outcome = await createProcesses().run(bash("echo one; echo two >&2", { separateStderr: true }), never);
			expect(outcome).toMatchObject({ output: "one\n", errorOutput: "two\n", outputBytes: 8 });
		});

		it("sends the input, or an ended stdin", async () => {
			const processes = createProcesses();
			expect((await processes.run(bash("cat", { input: "hellö" }), never)).output).toBe("hellö");
			expect((await processes.run(bash("cat; echo done"), never)).output).toBe("done\n");
		});

		it("ignores a child that does not read its input", async () => {
			const outcome = await createProcesses().run(bash("exit 0", { input: "x".repeat(1_000_000) }), never);
			expect(outcome.ended).toEqual({ kind: "exited", exitCode: 0 });
		});

		it("uses only the given directory and environment, with its marker", async () => {
			const outcome = await createProcesses({ identifiers: { uuid: () => "", hex: () => "c0ffee" } }).run(
				bash(`pwd -P; echo $NAME; echo $${markerVariable}; echo "[$HOME]"`, {
					environment: { NAME: "value", [markerVariable]: "outer" },
				}),
				never,
			);
			expect(outcome.output.split("\n").slice(1)).toEqual(["value", "outer:c0ffee", "[]", ""]);
		});

		it("reports a signal and a command that cannot be started", async () => {
			const processes = createProcesses();
			expect((await processes.run(bash("kill -9 $$"), never)).ended).toEqual({ kind: "signalled", signal: "SIGKILL" });
			const missing = await processes.run(bash("", { file: path.join(directory, "missing") }), never);
			expect(missing.ended).toMatchObject({ kind: "not-started", reason: expect.stringContaining("ENOENT") });
			const refused = await processes.run(bash("", { file: "a\0b" }), never);
			expect(refused.ended.kind).toBe("not-started");
		});

		it("does not start when already aborted", async () => {
			const outcome = await createProcesses().run(bash("touch started"), AbortSignal.abort());
			expect(outcome.ended).toEqual({ kind: "aborted" });
			expect(existsSync(path.join(directory, "started"))).toBe(false);
		});
	});

	describe("ending", () => {
		it("ends the group at the timeout and returns the output", async () => {
			const outcome = await createProcesses().run(
				bash("sleep 60 & echo $! > child; echo begun; wait", { timeout: 1500 }),
				never,
			);
			expect(outcome).toMatchObject({ ended: { kind: "timed-out" }, output: "begun\n" });
			expect(await isAlive(await processIdIn("child"))).toBe(false);
		});

		it("kills a child that ignores TERM at an abort", async () => {
			const abort = new AbortController();
			const run = createProcesses({ grace: 50 }).run(
				bash("trap '' TERM; echo $$ > child; while true; do sleep 60; done"),
				abort.signal,
			);
			const child = await processIdIn("child");
			abort.abort();
			expect((await run).ended).toEqual({ kind: "aborted" });
			expect(await isAlive(child)).toBe(false);
		});

		it("gives a child no grace period after abortPending", async () => {
			const [abort, abortPending] = [new AbortController(), new AbortController()];
			const run = createProcesses({ grace: 60_000 }).run(
				bash("trap '' TERM; echo $$ > child; while true; do sleep 60; done", { abortPending: abortPending.signal }),
				abort.signal,
			);
			const child = await processIdIn("child");
			abortPending.abort();
			expect(await isAlive(child)).toBe(true);
			abort.abort();
			expect((await run).ended).toEqual({ kind: "aborted" });
			expect(await isAlive(child)).toBe(false);
		});

		it("shortens a grace period that has begun", async () => {
			const [abort, abortPending] = [new AbortController(), new AbortController()];
			const command = "trap 'echo > asked' TERM; echo $$ > child; while true; do sleep 0.05; done";
			const run = createProcesses({ grace: 60_000 }).run(
				bash(command, { abortPending: abortPending.signal }),
				abort.signal,
			);
			const child = await processIdIn("child");
			abort.abort();
			while (!existsSync(path.join(directory, "asked"))) await new Promise((resolve) => setTimeout(resolve, 5));
			abortPending.abort();
			expect((await run).ended).toEqual({ kind: "aborted" });
			expect(await isAlive(child)).toBe(false);
		});

		it("lets a child handle TERM when the abort comes as soon as its first output is read", async () => {
			const cancelled = new AbortController();
			// All that the child has written meanwhile is there at once when this process comes to read.
			const onStart = () => {
				const until = performance.now() + 300;
				while (performance.now() < until);
			};
			const script = "trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
			const { output } = await createProcesses({ grace: 20_000, drain: 10_000 }).run(
				bash(script, { onStart, onOutput: () => cancelled.abort() }),
				cancelled.signal,
			);
			expect(output).toContain("cleaned");
		});

		it("gives a child that handles TERM time to clean up", async () => {
			const abort = new AbortController();
			const run = createProcesses({ grace: 5000 }).run(
				bash("trap 'echo cleaned; exit 0' TERM; echo $$ > child; while true; do sleep 0.05; done"),
				abort.signal,
			);
			await processIdIn("child");
			abort.abort();
			expect(await run).toMatchObject({ ended: { kind: "aborted" }, output: expect.stringContaining("cleaned\n") });
		});

		it("ends a stopped child", async () => {
			const abort = new AbortController();
			const run = createProcesses().run(bash("echo $$ > child; kill -STOP $$; sleep 60"), abort.signal);
			const child = await processIdIn("child");
			abort.abort();
			await run;
			expect(await isAlive(child)).toBe(false);
		});

		it("does not wait for a background child that holds the pipes open, and ends it", async () => {
			const outcome = await createProcesses({ drain: 50 }).run(
				bash("sleep 60 & echo $! > child; echo done", { timeout: 30_000 }),
				never,
			);
			expect(outcome).toMatchObject({ ended: { kind: "exited", exitCode: 0 }, output: "done\n" });
			expect(await isAlive(await processIdIn("child"))).toBe(false);
		});

		it.each([
			["setsid", "setsid bash -c 'echo $$ > child; exec sleep 60' &"],
			["a double fork", "(setsid bash -c '(echo $BASHPID > child; exec sleep 60) &' &) &"],
			[
				"a double fork without pipes",
				"(setsid bash -c '(echo $BASHPID > child; exec sleep 60) &' >/dev/null 2>&1 &) &",
			],
		])("sweeps processes that left the group by %s", async (_name, script) => {
			const waiting = "while [ ! -s child ]; do sleep 0.01; done";
			const normal = await createProcesses({ drain: 50 }).run(bash(`${script} ${waiting}`), never);
			expect(normal.ended).toEqual({ kind: "exited", exitCode: 0 });
			expect(await isAlive(await processIdIn("child"))).toBe(false);

			await rm(path.join(directory, "child"));
			const abort = new AbortController();
			const run = createProcesses().run(bash(`${script} wait; sleep 60`), abort.signal);
			const child = await processIdIn("child");
			abort.abort();
			expect((await run).ended).toEqual({ kind: "aborted" });
			expect(await isAlive(child)).toBe(false);
		});

		it("ends all groups concurrently", async () => {
			const processes = createProcesses({ grace: 50 });
			const runs = ["one", "two", "three"].map((name) =>
				processes.run(bash(`trap '' TERM; echo $$ > ${name}; sleep 60; sleep 60`), never),
			);
			const children = await Promise.all(["one", "two", "three"].map(processIdIn));
			await processes.endAll();
			expect(await Promise.all(children.map(isAlive))).toEqual([false, false, false]);
			expect((await Promise.all(runs)).map((run) => run.ended.kind)).toEqual(["aborted", "aborted", "aborted"]);
			await processes.endAll();
		});
	});

	describe("output", () => {
		it("is stored up to the limit, and the rest is counted", async () => {
			const outcome = await createProcesses().run(bash("printf 'ab€cd\\nefgh\\n'", { outputLimit: 4 }), never);
			expect(outcome).toMatchObject({ output: "ab", outputBytes: 13, truncated: true, spilledTo: null });
		});

		it("is forwarded to a sink, which gets the child's process id", async () => {
			const file = path.join(directory, "out.log");
			const started: number[] = [];
			const outcome = await createProcesses().run(
				bash("printf one; until [ -e go ]; do sleep 0.01; done; echo two >&2", {
					outputTo: {
						sink: {
							async append(text) {
								await appendFile(file, text);
								if (text === "one") await writeFile(path.join(directory, "go"), "");
							},
							close: async () => undefined,
						},
						limit: 1000,
					},
					onStart: (processId) => started.push(processId),
				}),
				never,
			);
			expect(outcome).toMatchObject({ ended: { kind: "exited", exitCode: 0 }, output: "", outputBytes: 7 });
			expect(await readFile(file, "utf8")).toBe("onetwo\n");
			expect(started).toEqual([expect.any(Number)]);
		});

		it("is shown as it arrives, by stream and also of unfinished lines", async () => {
			const shown: string[] = [];
			const outcome = await createProcesses().run(
				bash("printf one; until [ -e go ]; do sleep 0.01; done; echo two >&2", {
					onOutput(source, bytes) {
						shown.push(`${source} ${bytes.toString("utf8")}`);
						if (source === "output") writeFileSync(path.join(directory, "go"), "");
					},
				}),
				never,
			);
			expect(shown).toEqual(["output one", "error two\n"]);
			expect(outcome).toMatchObject({ ended: { kind: "exited", exitCode: 0 }, outputBytes: 7 });
		});

		it("spills completely, the first bytes included", async () => {
			const spillPath = path.join(directory, "spill.log");
			const outcome = await createProcesses({ openSink }).run(
				bash("seq 1 30000; printf 'é'", { outputLimit: 1000, spillPath }),
				never,
			);
			const whole = `${Array.from({ length: 30_000 }, (_, index) => index + 1).join("\n")}\né`;
			expect(await readFile(spillPath, "utf8")).toBe(whole);
			expect(outcome).toEqual({
				ended: { kind: "exited", exitCode: 0 },
				output: whole.slice(0, 1000),
				errorOutput: "",
				outputBytes: Buffer.byteLength(whole),
				truncated: true,
				spilledTo: spillPath,
			});
		});

		it("leaves no file when it fits, and ends the file at its limit", async () => {
			const spillPath = path.join(directory, "spill.log");
			const processes = createProcesses({ openSink });
			expect((await processes.run(bash("echo hi", { spillPath }), never)).spilledTo).toBeNull();
			expect(existsSync(spillPath)).toBe(false);
			const outcome = await processes.run(bash("seq 1 30000", { outputLimit: 10, spillPath, spillLimit: 100 }), never);
			expect(outcome.spilledTo).toBe(spillPath);
			expect((await readFile(spillPath, "utf8")).length).toBe(100);
		});

		it("continues when the file cannot be written", async () => {
			const failing: OpenOutputSink = async () => {
				throw new Error("disk full");
			};
			const outcome = await createProcesses({ openSink: failing }).run(
				bash("seq 1 30000", { outputLimit: 2, spillPath: path.join(directory, "spill.log") }),
				never,
			);
			expect(outcome).toMatchObject({ ended: { kind: "exited", exitCode: 0 }, output: "1\n", spilledTo: null });
		});

		it("loses nothing when the file is slower than the child", async () => {
			const texts: string[] = [];
			const slow: OpenOutputSink = async () => ({
				append: (text) =>
					new Promise((resolve) => {
						setTimeout(() => {
							texts.push(text);
							resolve();
						}, 40);
					}),
				close: async () => undefined,
			});
			const outcome = await createProcesses({ openSink: slow, drain: 20 }).run(
				bash("seq 1 40000", { outputLimit: 10, spillPath: "anywhere" }),
				never,
			);
			expect(texts.join("").length).toBe(outcome.outputBytes);
			expect(outcome.outputBytes).toBe(228_894);
		});

		it("has replacements for invalid UTF-8, and joins characters split between writes", async () => {
			const outcome = await createProcesses().run(
				bash("printf '\\xe2\\x82'; sleep 0.05; printf '\\xac \\xff\\n'"),
				never,
			);
			expect(outcome.output).toBe("€ \ufffd\n");
		});
	});
});

describe.each(modes)("the time of the machine, with containment %s", (contain) => {
	it.each([
		["back", -3_600_000],
		["forward", 3_600_000],
	])("may be set %s: a program still has its time to end", async (_, by) => {
		// Every reading is an hour from the one before.
		let time = Date.now();
		const clock = { ...systemClock, now: () => (time += by) };
		const script = "trap 'sleep 0.2; echo in peace; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
		const cancelled = new AbortController();
		const onOutput = () => cancelled.abort();
		const processes = createAnyProcesses({ contain, drain: 10_000, grace: 20_000, clock });
		const { output } = await processes.run(bash(script, { onOutput }), cancelled.signal);
		expect(output).toContain("in peace");
	});
});

describe("stragglers", () => {
	it("are not found by a marker that no process has", async () => {
		expect(await findStragglers("0123456789abcdef-absent")).toEqual([]);
		expect(
			await sweepStragglers("0123456789abcdef-absent", {
				now: () => 0,
				monotonic: () => 0,
				after: () => () => undefined,
			}),
		).toEqual([]);
	});

	it("yields to other work over many scans that are each short", async () => {
		const table: ProcessTable = {
			ids: () => [1, 2, 3, 4, 5],
			environment() {
				const until = performance.now() + 2;
				while (performance.now() < until);
				return "PATH=/bin";
			},
		};
		let turns = 0;
		const count = () => {
			turns += 1;
			next = setImmediate(count);
		};
		let next = setImmediate(count);
		for (let scan = 0; scan < 20; scan += 1) await findStragglers("absent", table);
		clearImmediate(next);
		expect(turns).toBeGreaterThan(5);
	});

	it.each([
		["was forked by an ended process", [[10], [11], [11]], { 10: [""], 11: ["marked"] }, [11]],
		["is in exec", [[10], [10]], { 10: ["", "marked"] }, [10]],
		[
			"was forked by a process that was forked meanwhile",
			[[10], [11], [12]],
			{ 10: [""], 11: [""], 12: ["marked"] },
			[12],
		],
		[
			"is listed once",
			[
				[10, 11],
				[10, 11],
			],
			{ 10: ["other"], 11: ["marked"] },
			[11],
		],
	] as const)("are found if one %s", async (_how, lists, environments, found) => {
		const read: Readonly<Record<number, readonly string[]>> = environments;
		const reads = new Map<number, number>();
		let looks = 0;
		const table: ProcessTable = {
			ids: () => [...(lists[looks++] ?? lists.at(-1) ?? [])],
			environment(processId) {
				const count = reads.get(processId) ?? 0;
				reads.set(processId, count + 1);
				const text = read[processId]?.[count] ?? "";
				return text === "" ? "" : `${markerVariable}=${text}\0`;
			},
		};
		expect(await findStragglers("marked", table)).toEqual(found);
	});

	it("are not searched in the own environment", async () => {
		await writeFile(path.join(directory, "x"), "");
		const own = process.env["PATH"];
		expect(own === undefined ? [] : (await findStragglers(own)).filter((id) => id === process.pid)).toEqual([]);
	});
});
