import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasBubblewrap } from "../../../test/support/executable/bubblewrap.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { createProcesses } from "./children.ts";
import { parseStatus } from "./contained-group.ts";
import { findBubblewrap, findContainable, toBubblewrapArguments } from "./containment.ts";
import type { RunRequest } from "./port.ts";
import { findProgram } from "./search-path.ts";

const never = new AbortController().signal;
const systemPath = "/usr/local/bin:/usr/bin:/bin";
let directory = "";

beforeEach(async () => {
	directory = await mkdtemp(path.join(tmpdir(), "containment-"));
});

afterEach(async () => {
	await rm(directory, { recursive: true, force: true });
});

async function writeProgram(name: string, text: string): Promise<string> {
	const file = path.join(directory, name);
	await writeFile(file, `#!/bin/sh\n${text}\n`);
	await chmod(file, 0o755);
	return file;
}

function request(extra: Partial<RunRequest> = {}): RunRequest {
	return {
		file: "/bin/bash",
		arguments: ["-c", "echo $0", "a b"],
		workDir: directory,
		environment: { PATH: systemPath },
		outputLimit: 1000,
		...extra,
	};
}

/** A log that keeps its warnings. */
function keepWarnings(): { readonly log: Log; readonly warnings: string[] } {
	const warnings: string[] = [];
	return { log: { ...silentLog, warn: (message) => void warnings.push(message) }, warnings };
}

describe("the lookup of programs", () => {
	it("finds them like exec", async () => {
		const file = await writeProgram("tool", "true");
		await writeFile(path.join(directory, "text"), "");
		expect(findProgram("tool", `/missing:${directory}`, "/")).toBe(file);
		expect(findProgram("./tool", undefined, directory)).toBe(file);
		expect(findProgram(file, undefined, "/")).toBe(file);
		expect(findProgram("text", directory, "/")).toBeNull();
		expect(findProgram("tool", undefined, "/")).toBeNull();
		expect(findProgram("", directory, "/")).toBeNull();
		expect(findProgram(".", directory, directory)).toBeNull();
	});

	it("ignores bwrap in a relative directory", async () => {
		const file = await writeProgram("bwrap", "true");
		const relative = path.relative("/", directory);
		expect(findBubblewrap(`${relative}:.::`)).toBeNull();
		expect(findBubblewrap(undefined)).toBeNull();
		expect(findBubblewrap(`${relative}:${directory}`)).toBe(file);
	});

	it("leaves refusals to the system", () => {
		expect(findContainable(request())).toBe("/bin/bash");
		expect(findContainable(request({ workDir: "/missing" }))).toBeNull();
		expect(findContainable(request({ file: "/missing" }))).toBeNull();
		expect(findContainable(request({ arguments: ["a\0b"] }))).toBeNull();
	});
});

describe("the command line", () => {
	it("separates the command's arguments from bwrap's", () => {
		const argv = toBubblewrapArguments("/bin/bash", request(), null);
		expect(argv.slice(0, argv.indexOf("--"))).toEqual(
			"--dev-bind / / --proc /proc --unshare-pid --die-with-parent --new-session --json-status-fd 6".split(" "),
		);
		expect(argv.slice(argv.indexOf("--") + 1, argv.indexOf("--") + 3)).toEqual(["/bin/sh", "-c"]);
		expect(argv.slice(-5)).toEqual(["no-input", "/bin/bash", "-c", "echo $0", "a b"]);
		expect(toBubblewrapArguments("/bin/cat", request({ input: "", arguments: [] }), null).slice(-2)).toEqual([
			"input",
			"/bin/cat",
		]);
	});

	it.each([
		["started\nexit 0 2\n", { exit: { kind: "exited", exitCode: 0 }, isAlone: true }],
		["started\nexit 3 4\n", { exit: { kind: "exited", exitCode: 3 }, isAlone: false }],
		["started\nexit 137 2\n", { exit: { kind: "exited", exitCode: 137 }, isAlone: true }],
		["started\nKilled\nexit 137 2\n", { exit: { kind: "signalled", signal: "SIGKILL" }, isAlone: true }],
		["started\nexit 0", null],
		["started\n", null],
		["", null],
	])("parses the status %j", (text, expected) => {
		expect(parseStatus(text)).toEqual(expected);
	});
});

describe("without a working bwrap", () => {
	it("runs uncontained, and logs that once", async () => {
		await writeProgram("bwrap", "echo 'No permissions to create new namespace' >&2; exit 1");
		const { log, warnings } = keepWarnings();
		const processes = createProcesses({ contain: "auto", log });
		const environment = { PATH: `${directory}:${systemPath}` };
		const runs = await Promise.all([1, 2].map(() => processes.run(request({ environment }), never)));
		expect(runs.map(({ ended, output }) => [ended, output])).toEqual([
			[{ kind: "exited", exitCode: 0 }, "a b\n"],
			[{ kind: "exited", exitCode: 0 }, "a b\n"],
		]);
		expect(warnings).toEqual(["Commands run without containment: bwrap does not work here"]);
	});

	it("tries it again with the next command when it was only slow", async () => {
		const tried = path.join(directory, "tried");
		await writeProgram("bwrap", `[ -e ${tried} ] || { touch ${tried}; exec sleep 60; }; exit 1`);
		const { log, warnings } = keepWarnings();
		const processes = createProcesses({ contain: "auto", log });
		const run = () => processes.run(request({ environment: { PATH: `${directory}:${systemPath}` } }), never);
		expect((await run()).output).toBe("a b\n");
		expect(warnings).toEqual([]);
		expect((await run()).output).toBe("a b\n");
		expect(warnings).toEqual(["Commands run without containment: bwrap does not work here"]);
	});

	it("logs nothing when bwrap is missing", async () => {
		const { log, warnings } = keepWarnings();
		const processes = createProcesses({ contain: "auto", log });
		const outcome = await processes.run(request({ environment: { PATH: directory } }), never);
		expect(outcome.output).toBe("a b\n");
		expect(warnings).toEqual([]);
	});

	it("does not look for bwrap when containment is off", async () => {
		await writeProgram("bwrap", `touch ${directory}/tried; exit 1`);
		const outcome = await createProcesses({ contain: "off" }).run(
			request({ environment: { PATH: `${directory}:${systemPath}` } }),
			never,
		);
		expect(outcome.ended).toEqual({ kind: "exited", exitCode: 0 });
		expect(existsSync(path.join(directory, "tried"))).toBe(false);
	});
});

describe.runIf(hasBubblewrap())("with bwrap", () => {
	const modes = ["off", "auto"] as const;
	const both = async (extra: Partial<RunRequest>) =>
		await Promise.all(modes.map((contain) => createProcesses({ contain }).run(request(extra), never)));

	it.each([
		["a signal", { arguments: ["-c", "kill -SEGV $$"] }],
		["an exit code like a signal's", { arguments: ["-c", "exit 137"] }],
		["a child's signal", { arguments: ["-c", "exec 2>/dev/null; bash -c 'kill -9 $$'; exit $?"] }],
		["TERM", { arguments: ["-c", "kill -TERM $$"] }],
		["TERM to its group", { arguments: ["-c", "trap 'echo term; exit 4' TERM; kill -TERM 0; sleep 1"] }],
		["stdin closed", { arguments: ["-c", "readlink /proc/self/fd/0; wc -c"] }],
		["input", { arguments: ["-c", "wc -c"], input: "x".repeat(300_000) }],
		["input left unread", { arguments: ["-c", "exit 5"], input: "x".repeat(300_000) }],
		["both streams", { arguments: ["-c", "echo one; echo two >&2"], separateStderr: true }],
		["descriptors", { arguments: ["-c", "ls /proc/self/fd | head -n 4"] }],
		["the directory", { arguments: ["-c", "pwd -P"] }],
		["a name to look up", { file: "cat", arguments: ["/etc/hostname"] }],
		["a shell builtin", { file: "cd", arguments: ["/"] }],
		["a missing program", { file: "/missing/program" }],
		["a missing directory", { workDir: "/missing/directory" }],
		["output after the end", { arguments: ["-c", "(sleep 0.05; echo late) & echo early"] }],
		["ignored signals", { arguments: ["-c", "grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status; trap -p"] }],
		["empty arguments", { file: "/usr/bin/printf", arguments: ["[%s]", "", "$(x)", "a'b\"c\n"] }],
	] satisfies readonly [string, Partial<RunRequest>][])("%s ends and prints as without bwrap", async (_name, extra) => {
		const [without, within] = await both(extra);
		expect(within).toEqual(without);
	});

	it.each([
		["plain", { NAME: "a  b\n", EMPTY: "", ünused: "" }],
		["special", { "a.b": "dotted", "BASH_FUNC_hello%%": "() {  echo hello\n}" }],
	])("a %s environment is passed on", async (_name, variables) => {
		const environment = { PATH: systemPath, ...variables };
		const outcomes = await both({ file: "/usr/bin/env", arguments: ["-0"], environment });
		// bwrap sets PWD, and a shell counts its depth.
		const set = /^(AGENTWIRE_RUN|PWD|OLDPWD|SHLVL|_)=/;
		const [without, within] = outcomes.map(({ output }) =>
			output
				.split("\0")
				.filter((entry) => !set.test(entry))
				.sort(),
		);
		expect(within).toEqual(without);
	});

	it("runs in its own namespace", async () => {
		const [without, within] = await both({ arguments: ["-c", "readlink /proc/self/ns/pid"] });
		expect(within?.output).not.toBe(without?.output);
	});

	it("ends processes that cleared their environment and left the group", async () => {
		const token = `token-${crypto.randomUUID()}`;
		const script = `env -i setsid bash -c 'exec -a ${token} sleep 300' >/dev/null 2>&1 & sleep 0.1`;
		await createProcesses({ contain: "auto" }).run(request({ arguments: ["-c", script] }), never);
		expect(spawnSync("pgrep", ["-f", `^${token}`]).stdout.toString()).toBe("");
	});
});
