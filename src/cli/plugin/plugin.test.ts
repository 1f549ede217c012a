// The `plugin` command over real directories, archives and repositories.
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Zippable, zipSync } from "fflate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noProcesses } from "../../../test/support/sessions/session-doubles.ts";
import { createFailingFiles } from "../../../test/support/store/failing-files.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { temporaryName } from "../../ports/files/temporaries.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import type { RunOutcome, RunRequest } from "../../ports/processes/port.ts";
import { answerPlugin } from "./plugin.ts";
import type { InstallSettings } from "./plugin-installation.ts";
import { PluginError } from "./plugin-source.ts";

let root: string;
beforeEach(async () => {
	root = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-plugins-")));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const at = (...names: string[]) => path.join(root, ...names);
const installed = (...names: string[]) => at("share", "plugins", ...names);
const json = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
const modeOf = (file: string) => statSync(file).mode & 0o7777;

/** Writes files below a directory of the root; objects as JSON. */
function put(directory: string, files: Readonly<Record<string, string | object>>): void {
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(path.dirname(at(directory, name)), { recursive: true });
		writeFileSync(at(directory, name), typeof content === "string" ? content : JSON.stringify(content));
	}
}

function putZip(name: string, files: Zippable): void {
	writeFileSync(at(name), zipSync(files));
}

const disk = createDiskFiles();
const settings = (changes: Partial<InstallSettings> = {}): InstallSettings => ({
	files: disk,
	processes: noProcesses,
	environment: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: root },
	place: { currentDir: root, home: at("home") },
	shareDir: at("share"),
	host: { name: "agentwire", version: "9.9.9" },
	values: async () => ({ api_key: "the-key", base_url: "https://api.example" }),
	signal: new AbortController().signal,
	now: Date.now,
	...changes,
});
const install = (source: string, changes: Partial<InstallSettings> = {}) =>
	answerPlugin({ name: "install", source }, settings(changes));
const list = () => answerPlugin({ name: "list" }, settings());
const info = (plugin: string) => answerPlugin({ name: "info", plugin }, settings());
const remove = (plugin: string) => answerPlugin({ name: "remove", plugin }, settings());

async function refusal(work: Promise<unknown>): Promise<string> {
	const thrown = await work.then(
		() => new Error("It was done."),
		(reason: unknown) => reason,
	);
	if (thrown instanceof PluginError) return thrown.message;
	throw thrown;
}

const demo = { name: "demo", version: "1.0.0" };
const bytes = (content: string | object) =>
	new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content));

describe("plugin install from a directory", () => {
	it("copies everything with its modes, and records the installer", async () => {
		const manifest = { ...demo, tools: [{ name: "say", command: ["./bin/say"] }], other: [1] };
		put("source", { "plugin.json": manifest, "bin/say": "#!/bin/sh\n", "data/a": "a", ".git/HEAD": "ref" });
		chmodSync(at("source/bin/say"), 0o775);
		chmodSync(at("source/data/a"), 0o400);
		expect(await install("source")).toEqual({ results: ["Installed demo 1.0.0, tools: say."], faults: [] });
		expect(json(installed("demo/plugin.json"))).toEqual({
			...manifest,
			runtime: { host: "agentwire", host_version: "9.9.9" },
		});
		expect([modeOf(installed("demo/bin/say")), modeOf(installed("demo/data/a"))]).toEqual([0o755, 0o600]);
		expect(existsSync(installed("demo/.git"))).toBe(false);
		expect(await readdir(installed())).toEqual(["demo"]);
	});

	it("reports a file in place of the directory of plugins", async () => {
		put("source", { "plugin.json": demo });
		put("share", { plugins: "mine" });
		expect(await refusal(install("source"))).toBe(
			`${installed()} is not a directory, but plugins are stored there. Move it away and install again.`,
		);
		expect(readFileSync(installed(), "utf8")).toBe("mine");
	});

	it("accepts paths of the home directory and absolute paths", async () => {
		put("home/source", { "plugin.json": demo });
		expect((await install("~/source")).results).toEqual(["Installed demo 1.0.0, no tools."]);
		expect((await install(at("home/source"))).results).toEqual(["Installed demo 1.0.0 in place of 1.0.0, no tools."]);
	});

	it("replaces an earlier version with all its files", async () => {
		put("source", { "plugin.json": demo, old: "" });
		await install("source");
		put("next", { "plugin.json": { ...demo, version: "2.0.0" } });
		expect((await install("next")).results).toEqual(["Installed demo 2.0.0 in place of 1.0.0, no tools."]);
		expect(await readdir(installed("demo"))).toEqual(["plugin.json"]);
	});

	it("copies the targets of inner links, and refuses all other links", async () => {
		put("source", { "plugin.json": demo, "a/file": "x" });
		symlinkSync("a/file", at("source/link"));
		symlinkSync("a", at("source/b"));
		await install("source");
		expect(readFileSync(installed("demo/link"), "utf8")).toBe("x");
		expect(readFileSync(installed("demo/b/file"), "utf8")).toBe("x");

		symlinkSync("..", at("source/a/up"));
		expect(await refusal(install("source"))).toBe(`${at("source/a/up")} is a link that points outside the plugin.`);
		await rm(at("source/a/up"));
		symlinkSync(".", at("source/a/again"));
		expect(await refusal(install("source"))).toBe(`${at("source/a/again")} is a circular link.`);
		await rm(at("source/a/again"));
		symlinkSync("nowhere", at("source/lost"));
		expect(await refusal(install("source"))).toBe(`${at("source/lost")} is neither a file nor a directory.`);
		await rm(at("source/lost"));
		put("secrets", { key: "s" });
		symlinkSync(at("secrets/key"), at("source/lost"));
		expect(await refusal(install("source"))).toBe(`${at("source/lost")} is a link that points outside the plugin.`);
	});

	it("accepts the directory of installed plugins itself", async () => {
		put("share/plugins", { "plugin.json": demo });
		await install(installed());
		expect(await readdir(installed("demo"))).toEqual(["plugin.json"]);
	});
});

describe("plugin install from a zip file", () => {
	const run: Zippable[string] = [bytes("#!/bin/sh\n"), { os: 3, attrs: 0o100755 * 65_536 }];

	it.each([
		["at its top level", { "plugin.json": bytes(demo), "bin/run": run }],
		["in one directory", { "demo-1.0/plugin.json": bytes(demo), "demo-1.0/bin/run": run }],
		[
			"in one directory, made on a Mac",
			{ "demo/plugin.json": bytes(demo), "demo/bin/run": run, "__MACOSX/demo/._plugin.json": bytes("") },
		],
	])("accepts a plugin %s", async (_name, files) => {
		putZip("demo.zip", files);
		expect((await install("demo.zip")).results).toEqual(["Installed demo 1.0.0, no tools."]);
		expect((await readdir(installed("demo"))).sort()).toEqual(["bin", "plugin.json"]);
		expect(modeOf(installed("demo/bin/run"))).toBe(0o755);
	});

	it.each<[string, Zippable, RegExp]>([
		[
			"entries with paths outside",
			{ "plugin.json": bytes(demo), "../../x": bytes("") },
			/demo\.zip cannot be unpacked: "\.\.\/\.\.\/x" points outside/,
		],
		["links", { "plugin.json": bytes(demo), l: [bytes("/"), { os: 3, attrs: 0o120777 * 65_536 }] }, /"l" is a link\.$/],
		["a plugin two levels down", { "a/b/plugin.json": bytes(demo) }, /^There is no plugin\.json in demo\.zip\.$/],
		["two plugins", { "a/plugin.json": bytes(demo), "b/plugin.json": bytes(demo) }, /^There is no plugin\.json in/],
	])("refuses %s", async (_name, files, message) => {
		putZip("demo.zip", files);
		expect(await refusal(install("demo.zip"))).toMatch(message);
		expect(existsSync(at("x"))).toBe(false);
		expect(await readdir(installed())).toEqual([]);
	});

	it.each<[string, Zippable, RegExp]>([
		[
			"a path that is both file and directory",
			{ a: bytes(""), "a/b": bytes("") },
			/^"a" .* both a file and a directory\. \S/,
		],
		["a long name", { ["n".repeat(300)]: bytes("") }, /^"n{79}…" .* name of more than 255 bytes\. \S/],
		["a long name of few characters", { ["é".repeat(128)]: bytes("") }, /^"é{79}…" .* name of more than 255 bytes/],
		["too many levels", { [`${"a/".repeat(3000)}x`]: bytes("") }, /^"(a\/)+a…" .* path of more than 1024 bytes\. \S/],
		["a duplicate file", { "./a": bytes("1"), a: bytes("2") }, /^"a" .* occurs twice\. \S/],
		["a file without a name", { ".": bytes("") }, /^"\." .* not a valid file name\. \S/],
		["a long path outside", { [`../${"n".repeat(3000)}`]: bytes("") }, /"\.\.\/n{76}…" points outside/],
	])("refuses %s before it writes any file", async (_name, files, message) => {
		putZip("demo.zip", { "plugin.json": bytes(demo), ...files });
		const { files: counted, effects } = createFailingFiles(disk);
		const reported = await refusal(install("demo.zip", { files: counted }));
		expect(reported).toMatch(message);
		expect(reported.length).toBeLessThan(400);
		expect(reported).not.toContain(".tmp");
		expect(effects.filter(({ kind }) => kind === "replace")).toEqual([]);
		expect(await readdir(installed())).toEqual([]);
	});

	it("refuses more than 100 MiB of unpacked files before it unpacks any", async () => {
		const archive = Buffer.from(zipSync({ a: bytes("a"), "plugin.json": bytes(demo) }));
		// The size in the directory is all that is looked at.
		archive.writeUInt32LE(100 * 1024 * 1024, archive.indexOf("PK\x01\x02", 0, "latin1") + 24);
		writeFileSync(at("demo.zip"), archive);
		const { files, effects } = createFailingFiles(disk);
		expect(await refusal(install("demo.zip", { files }))).toBe("The plugin is larger than 100 MiB.");
		expect(effects.filter(({ kind }) => kind === "replace")).toEqual([]);
	});

	it("refuses a file that is no zip file", async () => {
		put("", { "demo.zip": "no archive" });
		expect(await refusal(install("demo.zip"))).toBe(
			`${at("demo.zip")} cannot be unpacked: it is not a zip file, or it is truncated.`,
		);
	});
});

describe("plugin install from a git URL", () => {
	const git = (...argv: string[]) =>
		execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example", ...argv], {
			cwd: at("repository"),
			env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
		});

	it("clones it, and stores nothing of git", async () => {
		put("repository", { "plugin.json": demo, run: "" });
		chmodSync(at("repository/run"), 0o755);
		git("init", "--quiet");
		git("add", ".");
		git("commit", "--quiet", "-m", "First");
		expect((await install(`file://${at("repository")}`, { processes: createProcesses() })).results).toEqual([
			"Installed demo 1.0.0, no tools.",
		]);
		expect((await readdir(installed("demo"))).sort()).toEqual(["plugin.json", "run"]);
		expect(modeOf(installed("demo/run"))).toBe(0o755);
		expect(await readdir(installed())).toEqual(["demo"]);
	});

	const ran = (ended: RunOutcome["ended"], output = "") => {
		const requests: RunRequest[] = [];
		const run = async (request: RunRequest): Promise<RunOutcome> => {
			requests.push(request);
			return { ended, output, errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };
		};
		return { requests, processes: { run, endAll: async () => {} } };
	};

	it.each(["https://example.com/a.git", "http://example.com/a", "ssh://git@example.com/a", "git@example.com:me/a.git"])(
		"passes %s to git, which may not prompt",
		async (url) => {
			const { requests, processes } = ran({ kind: "exited", exitCode: 128 }, "fatal: no such repository\n");
			expect(await refusal(install(url, { processes }))).toContain("fatal: no such repository");
			expect(requests).toMatchObject([
				{
					file: expect.stringMatching(/^\/.*\/git$/),
					arguments: ["clone", "--quiet", "--depth", "1", "--", url, expect.any(String)],
				},
			]);
			expect(requests[0]?.environment["GIT_TERMINAL_PROMPT"]).toBe("0");
		},
	);

	it.each<[RunOutcome["ended"], RegExp]>([
		[{ kind: "timed-out" }, /300 s/],
		[{ kind: "signalled", signal: "SIGKILL" }, /SIGKILL/],
		[{ kind: "not-started", reason: "spawn git ENOENT" }, /^git could not be started: spawn git ENOENT\.$/],
		[{ kind: "aborted" }, /interrupted/],
		[{ kind: "exited", exitCode: 1 }, /^git could not clone/],
	])("reports how git ended: %j, without passwords", async (ended, message) => {
		const url = "https://me:hush@example.com/a";
		const reported = await refusal(install(url, { processes: ran(ended, `fatal: ${url}`).processes }));
		expect(reported).toMatch(message);
		expect(reported).not.toContain("hush");
		expect(await readdir(installed())).toEqual([]);
	});

	it("refuses what is neither a path nor a URL", async () => {
		expect(await refusal(install("ext::sh -c x"))).toBe(
			`There is no directory or zip file ${at("ext::sh -c x")}, and 'ext::sh -c x' is not a git URL.`,
		);
	});
});

describe("a plugin with injected values", () => {
	const asking = { ...demo, config_file: "conf/settings.json", inject: { "search.key": "api_key", url: "base_url" } };

	it("finds them in its config file, which only the owner can read", async () => {
		put("source", { "plugin.json": asking, "conf/settings.json": { search: { engine: "x", key: "" }, n: 1 } });
		expect(await install("source")).toMatchObject({ faults: [] });
		expect(json(installed("demo/conf/settings.json"))).toEqual({
			search: { engine: "x", key: "the-key" },
			n: 1,
			url: "https://api.example",
		});
		expect(modeOf(installed("demo/conf/settings.json"))).toBe(0o600);
		expect(json(at("source/conf/settings.json"))).toMatchObject({ search: { key: "" } });
	});

	it("gets a config file when it has none", async () => {
		put("source", { "plugin.json": asking });
		await install("source");
		expect(json(installed("demo/conf/settings.json"))).toEqual({
			search: { key: "the-key" },
			url: "https://api.example",
		});
	});

	it("is installed without missing values, and names them", async () => {
		put("source", { "plugin.json": asking });
		const { results, faults } = await install("source", { values: async () => ({ api_key: "", base_url: "u" }) });
		expect(results).toEqual(["Installed demo 1.0.0, no tools."]);
		expect(faults).toEqual([expect.stringContaining("api_key")]);
		expect(json(installed("demo/conf/settings.json"))).toEqual({ url: "u" });
	});

	it.each([
		["{", /^conf\/settings\.json is not JSON: /],
		["[]", /^conf\/settings\.json does not contain a JSON object\.$/],
		['{"search":"x"}', /^conf\/settings\.json: search\.key cannot be set: there is no object at search\.$/],
	])("is refused when its config file is %s", async (text, message) => {
		put("source", { "plugin.json": asking, "conf/settings.json": text });
		expect(await refusal(install("source"))).toMatch(message);
		expect(await readdir(installed())).toEqual([]);
	});

	it("is the only reason to read the settings", async () => {
		put("source", { "plugin.json": demo });
		const values = () => Promise.reject(new Error("not needed"));
		expect((await install("source", { values })).faults).toEqual([]);
	});
});

describe("an installation that fails", () => {
	beforeEach(async () => {
		put("source", { "plugin.json": demo, data: "old" });
		await install("source");
		put("next", { "plugin.json": { ...demo, version: "2.0.0" }, data: "new" });
	});
	const untouched = async () => {
		expect(await readdir(installed())).toEqual(["demo"]);
		expect(json(installed("demo/plugin.json"))).toMatchObject({ version: "1.0.0" });
		expect(readFileSync(installed("demo/data"), "utf8")).toBe("old");
	};

	it("preserves the earlier version when the manifest is invalid", async () => {
		put("next", { "plugin.json": { name: "demo" } });
		expect(await refusal(install("next"))).toBe("plugin.json cannot be used: version: is required.");
		await untouched();
	});

	it("preserves the earlier version when it is interrupted", async () => {
		expect(await refusal(install("next", { signal: AbortSignal.abort() }))).toBe("The installation was interrupted.");
		await untouched();
	});

	it("preserves the earlier version whichever file effect fails", async () => {
		const counting = createFailingFiles(disk);
		await install("next", { files: counting.files });
		const placed = counting.effects.findLastIndex(({ kind }) => kind === "rename");
		await install("source");
		for (let n = 1; n <= placed + 1; n += 1) {
			const { files } = createFailingFiles(disk, { at: n, mishap: { kind: "fail", code: "ENOSPC", once: true } });
			await expect(install("next", { files })).rejects.toMatchObject({ code: "ENOSPC" });
			await untouched();
		}
	});

	it("restores a version that a killed installation had moved away, and removes its files", async () => {
		const counting = createFailingFiles(disk);
		await install("next", { files: counting.files });
		await install("source");
		const renames = counting.effects.filter(({ kind }) => kind === "rename");
		const { files } = createFailingFiles(disk, {
			at: ({ kind, n }) => kind === "rename" && n === renames[1]?.n,
			mishap: { kind: "stop", when: "before", manner: "throw" },
		});
		await expect(install("next", { files })).rejects.toThrow();
		const [workspace = ""] = await readdir(installed());
		expect(existsSync(installed("demo"))).toBe(false);

		put("other", { "plugin.json": { ...demo, name: "other" } });
		await install("other");
		expect(await readdir(installed())).toContain(workspace);
		await install("other", { now: () => Date.now() + 2 * 3600_000 });
		expect((await readdir(installed())).sort()).toEqual(["demo", "other"]);
		expect(readFileSync(installed("demo/data"), "utf8")).toBe("old");
	});

	it("leaves the recent workspace of another installation alone", async () => {
		const [old, fresh] = [installed(temporaryName()), installed(temporaryName())];
		for (const directory of [old, fresh]) mkdirSync(directory);
		utimesSync(old, 1, 1);
		await install("next");
		expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
	});
});

describe("the installed plugins", () => {
	beforeEach(() => {
		const tools = [
			{ name: "say", description: "Says\n\u001b[31mit.", command: ["./say"] },
			{ name: "do", command: ["x"] },
		];
		put("share/plugins/demo", {
			"plugin.json": { ...demo, description: "Says things.", tools, runtime: { host: "kimi", host_version: "1" } },
		});
		put("share/plugins/by-hand", {
			"plugin.json": { name: "ant", version: "0", config_file: "c.json", inject: { "a.b": "api_key" } },
		});
		put("share/plugins/broken", { "plugin.json": {} });
	});
	const broken = () => `${installed("broken/plugin.json")} cannot be used: name: is required; version: is required.`;

	it("are listed by name, the broken ones separately", async () => {
		expect(await list()).toEqual({ results: ["ant 0", "demo 1.0.0: Says things."], faults: [broken()] });
		await rm(installed(), { recursive: true });
		expect(await list()).toEqual({ results: ["There are no plugins."], faults: [] });
	});

	it("are shown with all their contents, one line each", async () => {
		expect((await info("demo")).results).toEqual([
			"name: demo",
			"version: 1.0.0",
			"description: Says things.",
			`directory: ${installed("demo")}`,
			"installed by: kimi 1",
			"tool: say: Says \ufffd[31mit.",
			"tool: do",
		]);
		expect((await info("ant")).results).toEqual([
			"name: ant",
			"version: 0",
			`directory: ${installed("by-hand")}`,
			"config file: c.json",
			"gets: a.b = api_key",
		]);
		expect(await refusal(info("broken"))).toBe(broken());
	});

	it("are removed by name, the broken ones by directory name", async () => {
		expect(await remove("ant")).toEqual({ results: ["Removed ant."], faults: [] });
		expect(await remove("broken")).toEqual({ results: ["Removed broken."], faults: [] });
		expect(await readdir(installed())).toEqual(["demo"]);
	});

	it("are removed as links when they are links", async () => {
		put("elsewhere", { "plugin.json": { ...demo, name: "linked" } });
		symlinkSync(at("elsewhere"), installed("linked"));
		await remove("linked");
		expect([existsSync(installed("linked")), existsSync(at("elsewhere/plugin.json"))]).toEqual([false, true]);
	});

	it.each(["none", "..", "../plugins/demo", "."])("are not found by %j", async (name) => {
		expect(await refusal(remove(name))).toMatch(/^There is no plugin /);
		expect(await refusal(info(name))).toMatch(/^There is no plugin /);
		expect((await readdir(installed())).length).toBe(3);
	});
});
