import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { createProcesses } from "./children.ts";
import { findStragglers } from "./stragglers.ts";
import { startWatchdog } from "./watchdog.ts";

const isLinux = existsSync("/proc/self");
const started: ChildProcess[] = [];

afterEach(() => {
	for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** The living processes, zombies not counted, whose arguments hold the text. */
function processesWith(text: string): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((name) => {
			try {
				return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text);
			} catch {
				return false;
			}
		})
		.map(Number);
}

const newMarker = () => `marker-${crypto.randomUUID()}`;

/**
 * A process that runs a command with our marker and prints a line once the command has; it simulates a kernel that can
 * be killed.
 */
async function startKernel(marker: string, command: string): Promise<ChildProcess> {
	const children = fileURLToPath(new URL("children.ts", import.meta.url));
	const program = `
		import { createProcesses } from ${JSON.stringify(children)};
		const identifiers = { uuid: () => "", hex: () => ${JSON.stringify(marker)} };
		const openSink = async () => ({ append: async () => console.log("output"), close: async () => undefined });
		await createProcesses({ identifiers, openSink }).run({
			file: "/bin/bash",
			arguments: ["-c", ${JSON.stringify(command)}],
			workDir: "/",
			environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
			outputLimit: 0,
			spillPath: "anywhere",
		}, new AbortController().signal);
	`;
	const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", program], {
		cwd: fileURLToPath(new URL("../../..", import.meta.url)),
		stdio: ["ignore", "pipe", "inherit"],
	});
	started.push(child);
	await new Promise<void>((resolve) => createInterface({ input: child.stdout }).once("line", () => resolve()));
	return child;
}

describe.runIf(isLinux)("a watchdog", () => {
	it("exists while a command runs, and exits after it", async () => {
		const marker = newMarker();
		const abort = new AbortController();
		const run = createProcesses({ identifiers: { uuid: () => "", hex: () => marker } }).run(
			{ file: "/bin/sleep", arguments: ["60"], workDir: "/", environment: {}, outputLimit: 0 },
			abort.signal,
		);
		await vi.waitFor(() => expect(processesWith(marker)).toHaveLength(1));
		await vi.waitFor(async () => expect(await findStragglers(marker)).toHaveLength(1));
		const [watchdog] = processesWith(marker);
		expect(await findStragglers(marker)).not.toContain(watchdog);
		abort.abort();
		await run;
		expect(processesWith(marker)).toEqual([]);
	});

	it("exits when the command cannot be started", async () => {
		const marker = newMarker();
		const processes = createProcesses({ identifiers: { uuid: () => "", hex: () => marker } });
		const request = { file: "/missing", arguments: [], workDir: "/", environment: {}, outputLimit: 0 };
		expect((await processes.run(request, new AbortController().signal)).ended.kind).toBe("not-started");
		expect(processesWith(marker)).toEqual([]);
	});

	it("holds no files open and leads its own session", async () => {
		const marker = newMarker();
		const watchdog = startWatchdog(marker, silentLog);
		const [id = 0] = processesWith(marker);
		// A shell may keep copies for itself, all of the same; while it starts, it opens its libraries.
		const descriptors = () => readdirSync(`/proc/${id}/fd`).map(Number);
		await expect.poll(() => descriptors().filter((descriptor) => descriptor < 10)).toEqual([0, 1, 2, 3]);
		const status = readFileSync(`/proc/${id}/stat`, "latin1");
		expect(status.slice(status.lastIndexOf(")") + 2).split(" ")[3]).toBe(String(id));
		expect(readFileSync(`/proc/${id}/environ`, "latin1")).not.toContain(marker);
		await watchdog.dismiss(systemClock);
		expect(processesWith(marker)).toEqual([]);
	});

	it.each([
		[
			"in the group, without the marker",
			"exec env -i bash -c 'trap \"\" TERM HUP; echo up; sleep 300; sleep 300' TOKEN",
		],
		["apart", "setsid bash -c 'echo up; sleep 300; sleep 300' TOKEN & wait"],
		[
			"apart and forking",
			"setsid bash -c 'echo up; while :; do setsid bash -c \"sleep 300; :\" TOKEN & sleep 0.02; done' TOKEN & wait",
		],
	])(
		"kills processes that are %s when the kernel is killed, and then exits",
		{ timeout: 20_000 },
		async (_name, script) => {
			const token = `token-${crypto.randomUUID()}`;
			const marker = newMarker();
			const kernel = await startKernel(marker, script.replaceAll("TOKEN", token));
			expect(processesWith(token).length).toBeGreaterThan(1);
			kernel.kill("SIGKILL");
			await vi.waitFor(() => expect(processesWith(token).filter((id) => id !== kernel.pid)).toEqual([]), {
				timeout: 3000,
				interval: 20,
			});
			await vi.waitFor(() => expect(processesWith(marker)).toEqual([]), { timeout: 5000, interval: 50 });
			expect(processesWith(token)).toEqual([]);
		},
	);
});
