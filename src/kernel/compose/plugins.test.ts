// The tools that plugins add to the agents of a session (agent-kernel §8.7).
import { beforeEach, describe, expect, it } from "vitest";
import { call } from "../../../test/support/host/tool-environment.ts";
import { noProcesses } from "../../../test/support/sessions/session-doubles.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/store/memory-files.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { Processes, RunRequest } from "../../ports/processes/port.ts";
import { loadPluginTools } from "./session-tools.ts";

let files: MemoryFiles;
let warnings: unknown[];
let requests: RunRequest[];
beforeEach(() => {
	files = createMemoryFiles();
	warnings = [];
	requests = [];
});

async function put(name: string, manifest: object): Promise<void> {
	await files.makeDirectory(`/share/plugins/${name}`);
	await files.replace(`/share/plugins/${name}/plugin.json`, JSON.stringify({ name, version: "1", ...manifest }));
}

const tool = (name: string, more = {}) => ({ name, command: [`./${name}`], ...more });
const log: Log = { ...silentLog, warn: (_, fields) => warnings.push(fields) };
const processes: Processes = {
	...noProcesses,
	run: (request, signal) => {
		requests.push(request);
		return noProcesses.run(request, signal);
	},
};
let key = "first";
const load = () =>
	loadPluginTools({ files, processes, environment: { PATH: "/bin" }, shareDir: "/share", log }, async () => ({
		api_key: key,
		base_url: "",
	}));

describe("loadPluginTools", () => {
	it("returns the tools of all plugins in the order of their names", async () => {
		await put("b", { tools: [tool("three")] });
		await put("a", { tools: [tool("two"), tool("one")] });
		await put("c", {});
		expect((await load()).map(({ name }) => name)).toEqual(["two", "one", "three"]);
		expect(warnings).toEqual([]);
	});

	it("returns none without plugins", async () => {
		expect(await load()).toEqual([]);
	});

	it("omits and logs a tool with the name of another one or with a fault", async () => {
		await put("a", { tools: [tool("Shell"), tool("say"), tool("odd", { parameters: { type: "string" } })] });
		await put("b", { tools: [tool("say"), tool("last")] });
		const tools = await load();
		expect(tools.map(({ name }) => name)).toEqual(["say", "last"]);
		expect(warnings).toEqual([
			{ plugin: "a", tool: "Shell" },
			{ plugin: "a", tool: "odd", reason: expect.stringContaining("parameters") },
			{ plugin: "b", tool: "say" },
		]);
	});

	it("takes a thousand tools of all plugins together, and logs from which one on they are left out", async () => {
		const many = (letter: string) => Array.from({ length: 600 }, (_, n) => tool(`${letter}${n}`));
		await put("a", { tools: many("a") });
		await put("b", { tools: many("b") });
		await put("c", { tools: many("c") });
		const names = (await load()).map(({ name }) => name);
		expect([names.length, names.at(-1)]).toEqual([1000, "b399"]);
		expect(warnings).toEqual([{ plugin: "b", tool: "b400", found: 1800 }]);
	});

	it("bounds the schemas of all plugins together", async () => {
		const wide = Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [`p${n}`, {}]));
		for (let n = 0; n < 12; n += 1) {
			await put(`p${n + 10}`, { tools: [tool(`t${n}`, { parameters: { type: "object", properties: wide } })] });
		}
		expect(await load()).toHaveLength(11);
		expect(warnings).toEqual([
			{ plugin: "p21", tool: "t11", reason: expect.stringContaining("all schemas of the plugins together") },
		]);
	});

	it("passes a tool its plugin's directory and values, as of the call", async () => {
		await put("a", { config_file: "c.json", inject: { "x.key": "api_key", url: "base_url" }, tools: [tool("say")] });
		await put("b", { tools: [tool("other")] });
		const [say, other] = await load();
		if (say === undefined || other === undefined) throw new Error("They are missing.");
		key = "second";
		await call(say, {});
		await call(other, {});
		expect(requests.map(({ file, workDir, environment }) => ({ file, workDir, environment }))).toEqual([
			{ file: "./say", workDir: "/share/plugins/a", environment: { PATH: "/bin", "x.key": "second" } },
			{ file: "./other", workDir: "/share/plugins/b", environment: { PATH: "/bin" } },
		]);
	});
});
