import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasSandbox } from "../../../../test/support/executable/bubblewrap.ts";
import { systemClock } from "../../../base/clock.ts";
import { createProcesses } from "../children.ts";
import { startContainedGroup } from "../contained-group.ts";
import { filterDescriptor, findBubblewrap, findTrustedBubblewrap } from "../containment.ts";
import type { Confinement, RunOutcome } from "../port.ts";
import { prepareConfinement, proxyVariables, withProxy } from "./confinement.ts";
import { claimPlaceholder, isPlaceholder, releasePlaceholders } from "./placeholders.ts";

const never = new AbortController().signal;
const systemPath = "/usr/local/bin:/usr/bin:/bin";
let directory = "";
let work = "";

beforeEach(async () => {
	directory = await mkdtemp(path.join(tmpdir(), "confinement-"));
	work = path.join(directory, "work dir");
	await mkdir(work);
});

afterEach(async () => {
	await rm(directory, { recursive: true, force: true });
});

function confinement(extra: Partial<Confinement> = {}): Confinement {
	const nothing = { scratch: [], readOnly: [], missingAsFiles: [], removed: [], visible: [], hidden: [] };
	return { writable: [work], ...nothing, network: { kind: "none" }, ...extra };
}

async function run(script: string, extra: Partial<Confinement> = {}, input?: string): Promise<RunOutcome> {
	return await createProcesses({ contain: "auto" }).run(
		{
			file: "/bin/bash",
			arguments: ["-c", script],
			workDir: work,
			environment: { PATH: systemPath },
			outputLimit: 10_000,
			confinement: confinement(extra),
			...(input === undefined ? {} : { input }),
		},
		never,
	);
}

/** The text of a program that runs the script confined, in a process of its own. */
function serverProgram(script: string, extra: Partial<Confinement>, onOutput = "undefined"): string {
	return `
		import { createProcesses } from ${JSON.stringify(path.resolve("src/ports/processes/children.ts"))};
		const request = ${JSON.stringify({
			...{ file: "/bin/sh", arguments: ["-c", script], workDir: work, outputLimit: 10 },
			...{ environment: { PATH: systemPath }, confinement: confinement(extra) },
		})};
		const onOutput = ${onOutput};
		await createProcesses({ contain: "auto" }).run({ ...request, onOutput }, new AbortController().signal);
	`;
}

describe("a confinement that cannot be applied", () => {
	it("never uses a bwrap that a command could have written", async () => {
		const file = path.join(work, "bwrap");
		await writeFile(file, "#!/bin/sh\nexit 0\n");
		await chmod(file, 0o755);
		await symlink(file, path.join(directory, "bwrap"));
		const found = findTrustedBubblewrap(`${work}:${directory}`, confinement());
		expect(found === null || found.startsWith("/usr/bin/") || found.startsWith("/bin/")).toBe(true);
	});

	it("does not start the command", async () => {
		const script = `touch ${directory}/ran`;
		const link = path.join(work, "link");
		await symlink("/etc", link);
		const outcome = await run(script, { readOnly: [path.join(link, "inner")] });
		expect(outcome.ended).toEqual({
			kind: "not-started",
			reason: expect.stringMatching(
				hasSandbox()
					? /^The sandbox cannot be applied: .* is a link in a writable directory/
					: /^The sandbox cannot be applied: /,
			),
		});
		expect(existsSync(path.join(directory, "ran"))).toBe(false);
	});
});

describe.runIf(hasSandbox())("variables by which programs load code", () => {
	/** No program could load it. */
	const breakLibrary = async () => await writeFile(path.join(work, "libcap.so.2"), "written by a command");
	const echo = async (environment: Record<string, string>, input?: string) =>
		await createProcesses({ contain: "off" }).run(
			{
				file: "/bin/sh",
				arguments: ["-c", 'echo "$LD_LIBRARY_PATH|$BASH_ENV"'],
				workDir: work,
				environment: { PATH: systemPath, ...environment },
				outputLimit: 10_000,
				confinement: confinement(),
				...(input === undefined ? {} : { input }),
			},
			never,
		);

	it.each([undefined, "input"])(
		"are given to the command, and not to bwrap, which is not confined: %s",
		async (input) => {
			await breakLibrary();
			// The empty part stands for the work directory, which is bwrap's own too.
			for (const places of ["/nowhere/it's:", work]) {
				const { ended, output } = await echo({ LD_LIBRARY_PATH: places, BASH_ENV: "x y" }, input);
				expect(ended).toEqual({ kind: "exited", exitCode: 0 });
				expect(output).toBe(`${places}|x y\n`);
			}
		},
	);

	it("lead no shell of ours to what a command wrote", async () => {
		await writeFile(path.join(work, "start"), "echo written by a command >&2; exit 3");
		// A variable that not every shell supports makes us use bash.
		const { ended } = await echo({ "BASH_FUNC_f%%": "() { :; }", BASH_ENV: path.join(work, "start") });
		expect(ended).toEqual({ kind: "exited", exitCode: 0 });
	});
});

describe("the mounts", () => {
	const argumentsOf = (extra: Partial<Confinement>): string => {
		const prepared = prepareConfinement(confinement(extra), filterDescriptor);
		if (!prepared.ok) throw new Error(prepared.reason);
		prepared.start.release(true);
		return prepared.start.arguments.join(" ");
	};

	it.runIf(process.platform === "linux")("begin with everything read-only, and deeper paths come later", async () => {
		await mkdir(path.join(work, "a/b"), { recursive: true });
		const inner = path.join(work, "a/b");
		const text = argumentsOf({ hidden: [inner], visible: ["/missing"] });
		expect(text).toMatch(/^--ro-bind \/ \/ --dev \/dev --proc \/proc /);
		const [outside, pin, hidden] = [work, path.join(work, "a"), inner].map((file) => text.indexOf(`${file} `));
		expect([outside, pin, hidden]).toEqual([outside, pin, hidden].toSorted((a = 0, b = 0) => a - b));
		expect(text).toContain(`--bind ${work}/a ${work}/a --tmpfs ${inner} --remount-ro ${inner}`);
		expect(text).not.toContain("/missing");
	});

	it("give variables for the proxy only to commands with one", () => {
		expect(proxyVariables(confinement())).toEqual({});
		const variables = proxyVariables(confinement({ network: { kind: "proxy", socket: "/s" } }));
		expect(variables).toMatchObject({ HTTPS_PROXY: "http://127.0.0.1:3128", all_proxy: "http://127.0.0.1:3128" });
	});

	it("leave out what leads past the proxy", () => {
		const own = {
			PATH: "/bin",
			no_proxy: "*",
			No_Proxy: "*",
			npm_config_noproxy: "*",
			npm_config_https_proxy: "http://x",
			PROXY: "x",
		};
		const given = withProxy(own, confinement({ network: { kind: "proxy", socket: "/s" } }));
		expect(given).toMatchObject({
			PATH: "/bin",
			no_proxy: "localhost,127.0.0.1,::1",
			NO_PROXY: "localhost,127.0.0.1,::1",
		});
		expect(Object.keys(given).filter((name) => /^(?:No_Proxy|npm_|PROXY$)/.test(name))).toEqual([]);
		expect(withProxy(own, confinement())).toBe(own);
	});
});

describe("placeholders", () => {
	it.each(["directory", "file"] as const)(
		"are removed with their last user, and what is not one stays: %s",
		async (kind) => {
			const [mine, theirs] = [path.join(work, ".idea"), path.join(work, ".vscode")];
			if (kind === "file") await writeFile(theirs, "");
			else await mkdir(theirs);
			for (const place of [mine, mine, theirs]) expect(claimPlaceholder(place, kind)).toBe(true);
			expect((await lstat(mine)).isFile()).toBe(kind === "file");
			expect([isPlaceholder(mine), isPlaceholder(theirs)]).toEqual([true, false]);
			releasePlaceholders([mine, theirs], true);
			expect((await readdir(work)).sort()).toEqual([".idea", ".vscode"]);
			releasePlaceholders([mine], true);
			expect(await readdir(work)).toEqual([".vscode"]);
		},
	);

	it("are no placeholders any more once somebody has written into them", async () => {
		const [file, directory] = [path.join(work, ".npmrc"), path.join(work, ".idea")];
		claimPlaceholder(file, "file");
		claimPlaceholder(directory, "directory");
		await writeFile(file, "mine");
		await writeFile(path.join(directory, "mine"), "");
		expect([isPlaceholder(file), isPlaceholder(directory)]).toEqual([false, false]);
		releasePlaceholders([file, directory], true);
		expect((await readdir(work)).sort()).toEqual([".idea", ".npmrc"]);
	});

	it.runIf(hasSandbox()).each(["directory", "file"] as const)(
		"stay while they are mounted, if the command may not have ended: %s",
		async (kind) => {
			const place = path.join(work, ".idea");
			claimPlaceholder(place, kind);
			const mounts = ["--dev-bind", "/", "/", "--ro-bind", place, place];
			const command = spawn(findBubblewrap(systemPath) ?? "", [
				...mounts,
				"--die-with-parent",
				"sh",
				"-c",
				"echo ready; read -r line",
			]);
			await once(command.stdout, "data");
			releasePlaceholders([place], false);
			expect(await readdir(work)).toEqual([".idea"]);
			command.stdin.end();
			await once(command, "close");
			claimPlaceholder(place, kind);
			releasePlaceholders([place], false);
			expect(await readdir(work)).toEqual([]);
		},
	);
});

describe.runIf(hasSandbox())("with bwrap, a confined command", () => {
	it("writes below its writable directories and nowhere else", async () => {
		const outcome = await run(`echo new > made; cat > copied; touch ${directory}/outside; cat made`, {}, "input");
		expect(outcome.ended).toEqual({ kind: "exited", exitCode: 0 });
		expect(outcome.output).toContain("Read-only file system");
		expect(outcome.output).toContain("new\n");
		expect(await readFile(path.join(work, "copied"), "utf8")).toBe("input");
		expect(await readdir(directory)).toEqual(["work dir"]);
	});

	it.each([
		["exit 3", { kind: "exited", exitCode: 3 }],
		["kill -SEGV $$", { kind: "signalled", signal: "SIGSEGV" }],
	])("ends as it would otherwise: %s", async (script, ended) => {
		expect((await run(script)).ended).toEqual(ended);
	});

	it("cannot create what is missing and protected, which leaves no trace", async () => {
		await mkdir(path.join(work, ".git"));
		const readOnly = [".git/hooks", ".git/config", ".mcp.json", ".vscode/tasks.json"].map((name) =>
			path.join(work, name),
		);
		const outcome = await run("mkdir -p .git/hooks/x .mcp.json/x .vscode/x; echo > .git/config; mv .git g", {
			readOnly,
		});
		expect(outcome.ended).toEqual({ kind: "exited", exitCode: 1 });
		expect(await readdir(work, { recursive: true })).toEqual([".git"]);
	});

	it("has what it created and must not taken away in one step, whatever is in it", async () => {
		const git = path.join(work, ".git");
		const removed = [path.join(git, "commondir")];
		await mkdir(git);
		await run("echo .. > .git/commondir", { removed });
		expect(await readdir(git)).toEqual([]);
		await run("mkdir -p .git/commondir/deep; touch .git/commondir/deep/file", { removed });
		const [name = "", ...others] = await readdir(git);
		expect(others).toEqual([]);
		expect(name).toMatch(/^commondir\.[0-9a-f]{12}$/);
		// Emptying a directory that others still change could remove what they make it lead to.
		expect(await readdir(path.join(git, name, "deep"))).toEqual(["file"]);
	});

	it("sees nothing hidden through what another command that still runs replaces all the time", async () => {
		const secret = path.join(directory, "secret");
		await mkdir(secret);
		await writeFile(path.join(secret, "key"), "the secret");
		const extra = { visible: [path.join(work, "found")], hidden: [secret] };
		// It begins where there is nothing to protect yet, so that it may rename what is made there.
		const exchange = 'my ($a, $b) = ("found", "link"); syscall(RENAME, -100, $a, -100, $b, 2) while -e "on"'.replace(
			"RENAME",
			process.arch === "x64" ? "316" : "276",
		);
		const first = run(`touch on; mkdir found; ln -s ${secret} link; touch ready; perl -e '${exchange}'`, extra);
		while (!existsSync(path.join(work, "ready"))) await new Promise((resolve) => setImmediate(resolve));
		for (let count = 0; count < 60; count += 1)
			expect((await run("cat found/key", extra)).output).not.toContain("secret");
		await rm(path.join(work, "on"));
		expect((await first).ended).toEqual({ kind: "exited", exitCode: 0 });
		expect((await run("ls", extra)).ended).toEqual({ kind: "exited", exitCode: 0 });
	});

	it("starts although another process makes and removes the same placeholders all the time", async () => {
		const names = [".idea", ".mcp.json", ".vscode"].map((name) => path.join(work, name));
		const [first = "", second = "", third = ""] = names;
		const others = spawn("/bin/bash", [
			"-c",
			'while sleep 0.02; do mkdir "$1" "$3"; : > "$2"; touch -d @1 "$@"; sleep 0.02; rmdir "$1" "$3"; rm "$2"; done',
			...["bash", first, second, third],
		]);
		try {
			for (let round = 0; round < 15; round += 1) {
				const { ended } = await run("true", { readOnly: names, missingAsFiles: [second] });
				expect(ended).toEqual({ kind: "exited", exitCode: 0 });
			}
		} finally {
			others.kill("SIGKILL");
		}
	});

	it.each([
		[".idea", "mkdir .idea/mine"],
		[".npmrc", "rm .npmrc"],
	])("retains its placeholder %s while a command of another process needs it", async (name, attempt) => {
		const [ready, go, result] = ["ready", "go", "result"].map((name) => path.join(work, name));
		const readOnly = [path.join(work, name)];
		const missingAsFiles = readOnly.filter(() => name === ".npmrc");
		const wait = (file = "") => `while [ ! -e ${JSON.stringify(file)} ]; do sleep 0.01; done`;
		const script = `touch ready; ${wait(go)}; ${attempt}; echo $? > result`;
		const file = path.join(directory, "other.mts");
		await writeFile(file, serverProgram(script, { readOnly, missingAsFiles }));
		const first = run(`ls -A > listed; ${wait(ready)}`, { readOnly, missingAsFiles });
		await expect.poll(() => existsSync(path.join(work, "listed"))).toBe(true);
		const other = spawn(path.resolve("node_modules/.bin/tsx"), [file]);
		const otherEnd = once(other, "close");
		expect((await first).ended).toEqual({ kind: "exited", exitCode: 0 });
		expect(await readdir(work)).toContain(name);
		await writeFile(go ?? "", "");
		await otherEnd;
		expect(await readFile(result ?? "", "utf8")).toBe("1\n");
		expect(await readdir(work)).not.toContain(name);
	});

	it("does not run before it is begun, nor when it is ended first", async () => {
		const prepared = prepareConfinement(confinement(), filterDescriptor);
		const bubblewrap = findTrustedBubblewrap(systemPath, confinement()) ?? "";
		if (!prepared.ok) throw new Error(prepared.reason);
		const request = {
			...{ file: "/bin/sh", arguments: ["-c", "echo > ran"], workDir: work, outputLimit: 0 },
			...{ environment: { PATH: systemPath }, confinement: confinement() },
		};
		for (const isBegun of [false, true]) {
			const started = await startContainedGroup("/bin/sh", request, "marker", { bubblewrap }, prepared.start);
			if (!started.ok) throw new Error(started.reason);
			if (isBegun) {
				started.group.begin();
				expect(await started.group.exit).toEqual({ kind: "exited", exitCode: 0 });
			}
			await started.group.end(systemClock, 0, never);
			expect(await readdir(work)).toEqual(isBegun ? ["ran"] : []);
		}
		prepared.start.release(true);
	});

	it("sees no more of what is hidden through a link that an earlier command made", async () => {
		const home = path.join(directory, "home");
		await mkdir(path.join(home, "keys/deep"), { recursive: true });
		for (const file of ["key", "deep/token"]) await writeFile(path.join(home, "keys", file), "secret\n");
		const extra = {
			visible: [".envrc", "modules"].map((name) => path.join(work, name)),
			hidden: [path.join(home, "keys")],
		};
		const links = `ln -s ${home}/keys/key .envrc; ln -s ${home}/keys/deep modules`;
		expect((await run(links, extra)).ended).toEqual({ kind: "exited", exitCode: 0 });
		const { output } = await run("cat .envrc modules/token", extra);
		expect(output).not.toContain("secret");
		expect(output).toMatch(/No such file[\s\S]*No such file/);
	});

	it("does not choose by a link what the next command may write or read", async () => {
		const [outside, build, keys] = ["outside", "build", "keys"].map((name) => path.join(directory, name));
		for (const place of [outside, build, keys]) await mkdir(place ?? "");
		const extra = { writable: [work, path.join(work, "build")], hidden: [path.join(work, "keys")] };
		for (const [name, target] of [
			["build", build],
			["keys", keys],
		]) {
			const link = path.join(work, name ?? "");
			await symlink(target ?? "", link);
			const { ended } = await run(`ln -sfn ${outside} ${name}`, extra);
			expect(ended).toMatchObject({ reason: expect.stringContaining(`${link} is a link in a writable directory`) });
			await rm(link);
		}
		expect((await run("true", extra)).ended).toEqual({ kind: "exited", exitCode: 0 });
	});

	it("has no placeholder left after its server was killed", async () => {
		const missingAsFiles = [path.join(work, ".mcp.json")];
		const readOnly = [path.join(work, ".idea"), ...missingAsFiles];
		const onOutput = '() => process.kill(process.pid, "SIGKILL")';
		const file = path.join(directory, "server.mts");
		await writeFile(file, serverProgram("ls -A > seen; echo ready; sleep 60", { readOnly, missingAsFiles }, onOutput));
		const { signal } = spawnSync(path.resolve("node_modules/.bin/tsx"), [file]);
		expect(signal ?? "SIGKILL").toBe("SIGKILL");
		await expect.poll(() => readdir(work), { timeout: 10_000 }).toEqual(["seen"]);
		expect(await readFile(path.join(work, "seen"), "utf8")).toBe(".idea\n.mcp.json\nseen\n");
	});
});
