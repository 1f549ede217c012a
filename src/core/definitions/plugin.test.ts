import { beforeEach, describe, expect, it } from "vitest";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/store/memory-files.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { chooseInjected, discoverPlugins, findPlugins, readPlugin } from "./plugin.ts";

let files: MemoryFiles;
beforeEach(() => {
	files = createMemoryFiles();
});

async function put(directory: string, manifest: unknown): Promise<void> {
	await files.makeDirectory(`/share/plugins/${directory}`);
	const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
	await files.replace(`/share/plugins/${directory}/plugin.json`, text);
}

const least = { name: "demo", version: "1.0.0" };
const tool = { name: "say", command: ["./say"] };

async function reasonOf(manifest: unknown): Promise<string | null> {
	await put("demo", manifest);
	const reading = await readPlugin("/share/plugins/demo", files);
	return reading.ok ? null : reading.reason;
}

describe("readPlugin", () => {
	it("reads every key", async () => {
		const parameters = { type: "object", properties: { text: { type: "string" } } };
		await put("demo", {
			...least,
			description: "Says things.",
			config_file: "conf/settings.json",
			inject: { "search.api_key": "api_key", baseUrl: "base_url" },
			tools: [{ ...tool, description: "Says it.", command: ["python3", "say.py"], parameters }],
			runtime: { host: "kimi", host_version: "1.49" },
			unknown: true,
		});
		expect(await readPlugin("/share/plugins/demo", files)).toEqual({
			ok: true,
			plugin: {
				name: "demo",
				version: "1.0.0",
				description: "Says things.",
				directory: "/share/plugins/demo",
				configFile: "conf/settings.json",
				inject: { "search.api_key": "api_key", baseUrl: "base_url" },
				tools: [{ name: "say", description: "Says it.", command: ["python3", "say.py"], parameters }],
				runtime: { host: "kimi", hostVersion: "1.49" },
			},
		});
	});

	it("refuses a manifest that is too long, and limits the number of reported faults", async () => {
		expect(await reasonOf({ ...least, description: "x".repeat(300_000) })).toBe("has more than 262144 bytes");
		const tools = Array.from({ length: 5000 }, () => ({}));
		expect((await reasonOf({ ...least, tools }))?.split("; ")).toHaveLength(20);
	});

	it("requires only name and version, and accepts a byte order mark", async () => {
		await put("demo", `\ufeff${JSON.stringify({ ...least, tools: [tool] })}`);
		expect(await readPlugin("/share/plugins/demo", files)).toEqual({
			ok: true,
			plugin: {
				...least,
				description: "",
				directory: "/share/plugins/demo",
				configFile: null,
				inject: {},
				tools: [{ ...tool, description: "", parameters: { type: "object", properties: {} } }],
				runtime: null,
			},
		});
	});

	it.each<[string, unknown]>([
		["the manifest: must be an object", []],
		["name: is required; version: is required", {}],
		["version: must be a string", { ...least, version: 1 }],
		["version: must not be empty", { ...least, version: "" }],
		["config_file: must be the path of a file in the plugin", { ...least, config_file: "../other.json" }],
		["config_file: must be the path of a file in the plugin", { ...least, config_file: "a/../../other.json" }],
		["config_file: must be the path of a file in the plugin", { ...least, config_file: "/etc/passwd" }],
		["config_file: must be the path of a file in the plugin", { ...least, config_file: "a/.." }],
		["inject: needs config_file, the file that the values are for", { ...least, inject: { key: "api_key" } }],
		[
			'inject.key: must be "api_key" or "base_url"',
			{ ...least, config_file: "c.json", inject: { key: "access_token" } },
		],
		[
			"inject.a..b: is not a key: names of letters, digits, _ and - with dots between",
			{ ...least, config_file: "c.json", inject: { "a..b": "api_key" } },
		],
		[
			"inject.A=B: is not a key: names of letters, digits, _ and - with dots between",
			{ ...least, config_file: "c.json", inject: { "A=B": "api_key" } },
		],
		["tools: must be a list of tools", { ...least, tools: {} }],
		["tools.0.name: is required; tools.0.command: is required", { ...least, tools: [{}] }],
		["tools.1.command: must not be empty", { ...least, tools: [tool, { ...tool, command: [] }] }],
		["tools.0.command: must begin with the name of a program", { ...least, tools: [{ ...tool, command: [""] }] }],
		["tools.0.command: must be a list of strings", { ...least, tools: [{ ...tool, command: "./say" }] }],
		["tools.0.command.0: must be a string", { ...least, tools: [{ ...tool, command: [1] }] }],
		["tools.0.parameters: must be an object", { ...least, tools: [{ ...tool, parameters: [] }] }],
		["runtime.host_version: is required", { ...least, runtime: { host: "x" } }],
	])("names key and fault: %s", async (reason, manifest) => {
		expect(await reasonOf(manifest)).toBe(reason);
	});

	it.each([".hidden", "-flag", "a/b", "..", "a b", "a\n", "a\\b", "", "x".repeat(201)])(
		"refuses a name that is no plain file name: %j",
		async (name) => {
			expect(await reasonOf({ ...least, name })).toMatch(/^name: must /);
		},
	);

	it.each(["a", "a.b-c_d", "2048", "搜索"])("accepts a plain file name: %j", async (name) => {
		expect(await reasonOf({ ...least, name })).toBeNull();
	});

	it.each(["", "1st", "with space", "a.b", "x".repeat(65)])(
		"refuses a tool name that providers refuse: %j",
		async (name) => {
			expect(await reasonOf({ ...least, tools: [{ ...tool, name }] })).toMatch(/^tools\.0\.name: must be /);
		},
	);

	it("reports a missing, an invalid and an endless manifest", async () => {
		expect(await readPlugin("/share/plugins/none", files)).toEqual({ ok: false, reason: "there is no such file" });
		expect(await reasonOf("{")).toMatch(/^is not JSON: /);
		expect(await reasonOf(`{"tools":${"[".repeat(5000)}${"]".repeat(5000)}}`)).toBe("its values nest too deeply");
		await files.makeDirectory("/share/plugins/odd/plugin.json");
		expect(await readPlugin("/share/plugins/odd", files)).toMatchObject({
			reason: expect.stringMatching(/^cannot be read: /),
		});
	});
});

describe("discoverPlugins", () => {
	const warnings: unknown[] = [];
	const log: Log = { ...silentLog, warn: (_, fields) => warnings.push(fields) };
	beforeEach(() => {
		warnings.length = 0;
	});

	it("finds them by name, and reports which are invalid and why", async () => {
		await put("one", { ...least, name: "zebra" });
		await put("two", { ...least, name: "ant" });
		await put("three", { name: "broken" });
		await put(".half-made", least);
		await files.makeDirectory("/share/plugins/only-a-skill");
		await files.replace("/share/plugins/file", "");
		const found = await discoverPlugins({ files, shareDir: "/share", log });
		expect(found.map(({ name, directory }) => [name, directory])).toEqual([
			["ant", "/share/plugins/two"],
			["zebra", "/share/plugins/one"],
		]);
		expect(warnings).toEqual([{ file: "/share/plugins/three/plugin.json", reason: "version: is required" }]);
		const directories = (await findPlugins(files, "/share")).map(({ directory }) => directory);
		expect(directories).toEqual(["/share/plugins/one", "/share/plugins/three", "/share/plugins/two"]);
	});

	it("reads one directory when there are none", async () => {
		const asked: string[] = [];
		const refuse = () => {
			throw new Error("not needed");
		};
		const counting: Files = {
			...files,
			read: refuse,
			status: refuse,
			list: (path) => {
				asked.push(path);
				return files.list(path);
			},
		};
		expect(await discoverPlugins({ files: counting, shareDir: "/share", log })).toEqual([]);
		await files.makeDirectory("/share/plugins");
		expect(await discoverPlugins({ files: counting, shareDir: "/share", log })).toEqual([]);
		await files.makeDirectory("/other");
		await files.replace("/other/plugins", "a file");
		expect(await discoverPlugins({ files: counting, shareDir: "/other", log })).toEqual([]);
		expect(asked).toEqual(["/share/plugins", "/share/plugins", "/other/plugins"]);
		expect(warnings).toEqual([]);
	});

	it("logs a directory that cannot be listed, and continues without it", async () => {
		const denied = async () => {
			throw Object.assign(new Error("EACCES: denied"), { code: "EACCES" });
		};
		expect(await discoverPlugins({ files: { ...files, list: denied }, shareDir: "/share", log })).toEqual([]);
		expect(warnings).toEqual([{ path: "/share/plugins", reason: "EACCES: denied" }]);
	});
});

describe("chooseInjected", () => {
	it("returns the values under the keys of the plugin, and omits missing ones", () => {
		const inject = { "a.key": "api_key", again: "api_key", url: "base_url" } as const;
		expect(chooseInjected(inject, { api_key: "k", base_url: "" })).toEqual({ "a.key": "k", again: "k" });
		expect(chooseInjected({}, { api_key: "k", base_url: "u" })).toEqual({});
	});
});
