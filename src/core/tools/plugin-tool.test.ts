// Plugin tools over real children (agent-kernel §8.7).
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	issueOf,
	prepareCall,
	type ToolPlace,
} from "../../../test/support/host/tool-environment.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import type { RunRequest } from "../../ports/processes/port.ts";
import { createPluginTool, type InjectValues, type PluginToolDeclaration } from "./plugin-tool.ts";
import type { Tool, ToolEnvironment } from "./tool.ts";

let place: ToolPlace;
beforeEach(async () => {
	place = await createToolPlace();
	await mkdir(place.at("plugin"));
});
afterEach(() => place.remove());

const nothing: InjectValues = async () => ({});
const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

function make(
	declaration: Partial<PluginToolDeclaration>,
	inject = nothing,
	environment: Pick<ToolEnvironment, "environment" | "processes"> = place.environment,
) {
	const whole = { name: "say", description: "", command: ["true"], parameters: {}, ...declaration } as const;
	return createPluginTool(place.at("plugin"), whole, environment, inject);
}

async function made(...given: Parameters<typeof make>): Promise<Tool> {
	const result = await make(...given);
	if (!result.ok) throw new Error(result.reason);
	return result.tool;
}

const sh = (script: string): PluginToolDeclaration["command"] => ["sh", "-c", script];

describe("a plugin tool", () => {
	it("requests approval under its own action, without display blocks", async () => {
		expect(await prepareCall(await made({}), {})).toMatchObject({
			approval: { action: "plugin:say", description: "Call plugin tool `say`.", display: [] },
			hasEffect: true,
		});
	});

	it("gets its arguments as JSON in the plugin's directory, and returns its output", async () => {
		await writeFile(place.at("plugin", "say"), "#!/bin/sh\npwd\ncat\necho aside >&2\n");
		await chmod(place.at("plugin", "say"), 0o755);
		const tool = await made({ command: ["./say"], parameters: text });
		const value = { text: "é 'x'\n", more: [1] };
		expect(await call(tool, value)).toEqual({
			is_error: false,
			output: `${place.at("plugin")}\n${JSON.stringify(value)}`,
			message: "",
			display: [],
			extras: null,
		});
	});

	it("checks the arguments before the call", async () => {
		const tool = await made({ parameters: text });
		expect(await issueOf(tool, { text: "x" })).toBeNull();
		expect(await issueOf(tool, { text: 5 })).toBe("arguments/text must be string");
		expect(await issueOf(tool, [])).toBe("arguments must be object");
	});

	it("has a schema of an object, and a description in any case", async () => {
		const tool = await made({ parameters: { properties: {} } });
		expect(await tool.parameters()).toEqual({ type: "object", properties: {} });
		expect(tool.description).toBe("No description provided.");
		expect((await made({ description: "Says it." })).description).toBe("Says it.");
	});

	it.each<[string, object, RegExp]>([
		["is invalid", { type: "object", properties: 5 }, /^the schema of its parameters cannot be used: .*properties/],
		[
			"has an unresolved reference",
			{ $ref: "https://example.com/x" },
			/^the schema of its parameters cannot be used: schema\/\$ref leads to nothing/,
		],
		["is not for an object", { type: "string" }, /^the type of its parameters is not "object"$/],
	])("cannot be used when its schema %s", async (_name, parameters, reason) => {
		expect(await make({ parameters: { ...parameters } })).toMatchObject({
			ok: false,
			reason: expect.stringMatching(reason),
		});
	});

	it("limits a long output", async () => {
		const long = await call(await made({ command: sh("seq 1 100000") }), {});
		expect(long).toMatchObject({ is_error: false, message: "The output was shortened to fit." });
		expect(String(long.output).length).toBe(50_000);
		const noisy = await call(await made({ command: sh("seq 1 300000 >&2; echo done") }), {});
		expect(noisy).toMatchObject({
			is_error: false,
			output: "",
			message: expect.stringContaining("not all of its output"),
		});
	});

	it("fails with the exit code and stderr", async () => {
		const result = await call(await made({ command: sh("echo out; echo one >&2; echo two >&2; exit 3") }), {});
		expect(result).toMatchObject({
			is_error: true,
			output: "one\ntwo\n",
			message: "The plugin's program failed with exit code: 3.",
		});
		expect(briefOf(result)).toBe("Failed with exit code: 3\ntwo");
	});

	it("fails with stdout when stderr is empty", async () => {
		const result = await call(await made({ command: sh("echo out; exit 1") }), {});
		expect(result).toMatchObject({ is_error: true, output: "out\n" });
		const silent = await call(await made({ command: ["false"] }), {});
		expect(briefOf(silent)).toBe("Failed with exit code: 1");
	});

	it("reports a signal, and a missing program", async () => {
		expect(briefOf(await call(await made({ command: sh("kill -9 $$") }), {}))).toBe("Ended by signal SIGKILL");
		const missing = await call(await made({ command: ["./missing"] }), {});
		expect(missing).toMatchObject({ is_error: true, message: expect.stringContaining("./missing") });
		expect(briefOf(missing)).toBe("Execution failed");
	});

	it("is ended with its process group after 120 seconds", async () => {
		// Two minutes pass at once; what else is waited for takes its time.
		const clock: Clock = {
			...systemClock,
			after: (milliseconds, callback) => systemClock.after(milliseconds === 120_000 ? 100 : milliseconds, callback),
		};
		const environment = { ...place.environment, processes: createProcesses({ drain: 50, clock }) };
		const result = await call(await made({ command: sh("echo begun; sleep 60 & sleep 60") }, nothing, environment), {});
		expect(result).toMatchObject({ is_error: true, message: "The plugin's program was ended after 120 s." });
		expect(briefOf(result)).toBe("Timed out (120s)\nbegun");
	});

	it("is ended by a cancel", async () => {
		const abort = new AbortController();
		const running = (await prepareCall(await made({ command: sh("sleep 60") }), {})).execute(abort.signal);
		abort.abort();
		expect(briefOf(await running)).toBe("Cancelled");
	});

	it("may ignore its input", async () => {
		expect((await call(await made({}), { text: "x".repeat(1_000_000) })).is_error).toBe(false);
	});
});

describe("injected values", () => {
	it("are variables under their keys, read again at each call", async () => {
		const requests: RunRequest[] = [];
		const { processes } = place.environment;
		const environment = {
			environment: { PATH: "/bin:/usr/bin", token: "old" },
			processes: {
				...processes,
				run: (request: RunRequest, signal: AbortSignal) => {
					requests.push(request);
					return processes.run(request, signal);
				},
			},
		};
		const tokens = ["t1", "t2"];
		const inject = async () => ({ "search.api_key": "dotted", token: tokens.shift() ?? "" });
		const tool = await made({ command: sh('printf %s "$token"') }, inject, environment);
		expect([(await call(tool, {})).output, (await call(tool, {})).output]).toEqual(["t1", "t2"]);
		expect(requests[0]?.environment).toEqual({ PATH: "/bin:/usr/bin", "search.api_key": "dotted", token: "t1" });
	});

	it("are redacted in errors", async () => {
		const inject = async () => ({ key: "hush-hush", longer: "hush-hush-hush", none: "" });
		const failing = await made({ command: sh('echo "got $longer, $key"; exit 1') }, inject);
		const byOutput = await call(failing, {});
		expect(byOutput).toMatchObject({ is_error: true, output: "got [hidden], [hidden]\n" });
		const byErrors = await call(await made({ command: sh('echo "$key is no key" >&2; exit 1') }, inject), {});
		expect(JSON.stringify(byErrors)).not.toContain("hush");
		expect(briefOf(byErrors)).toBe("Failed with exit code: 1\n[hidden] is no key");
	});
});
