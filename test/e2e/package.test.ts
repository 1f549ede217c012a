// The package as npm packs it: installed in an empty project, compiled against its types, and run.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
let project = "";

beforeAll(() => {
	project = realpathSync(mkdtempSync(path.join(tmpdir(), "agentwire-package-")));
	execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", project], { cwd: root });
	const modules = path.join(project, "node_modules");
	mkdirSync(path.join(modules, "agentwire"), { recursive: true });
	for (const name of ["@types", "@vscode"])
		symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
	execFileSync("sh", ["-c", "tar -xzf ./*.tgz --strip-components=1 -C node_modules/agentwire"], { cwd: project });
	writeFileSync(path.join(project, "package.json"), '{"type":"module"}');
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function run(command: string, ...args: string[]) {
	const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: "utf8", timeout: 25_000 });
	return { status, stdout, stderr };
}

it("runs a kernel in process, with its skills, and starts its own executable", () => {
	writeFileSync(
		path.join(project, "run.mjs"),
		`import { createAgent, scriptedModel } from "agentwire";
import { connect } from "agentwire/client";
const models = { mine: scriptedModel(["Hello"]) };
const agent = await createAgent({ home: process.cwd() + "/home", store: "memory", models });
const session = await agent.open();
const { text } = await session.prompt("Hi");
const skills = await agent.call("skills.list", {});
const kernel = await connect({ env: { ...process.env, KIMI_SHARE_DIR: process.cwd() + "/share" } });
const { name } = await kernel.info();
await kernel.close();
await agent.close();
console.log(JSON.stringify({ text, hasSkills: skills.length > 0, name }));
`,
	);
	const { stdout, stderr } = run("node", "run.mjs");
	expect(stderr).toBe("");
	expect(JSON.parse(stdout)).toEqual({ text: "Hello", hasSkills: true, name: "agentwire" });
});

it("has types that stand for themselves", () => {
	const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022"];
	writeFileSync(
		path.join(project, "use.ts"),
		`import { createAgent, type Model, scriptedModel, type TurnResult } from "agentwire";
import { connect, tool } from "agentwire/client";
import { expectTranscript, scriptedAgent } from "agentwire/testing";
const model: Model = scriptedModel(["Hello", { calls: [{ tool: "weather", arguments: { city: "Bern" } }] }]);
const weather = tool("weather", "The weather", { type: "object" }, (args, { signal }) => [args, signal.aborted]);
export async function use(): Promise<TurnResult> {
	const agent = await createAgent({ home: "/home", models: { model } });
	const kernel = await connect({ url: "http://127.0.0.1:7420", token: "t" });
	const session = await kernel.open({ tools: [weather], approve: (ask) => ask.once() });
	for await (const event of session.prompt("Hi")) if (event.type === "text") console.log(event.text);
	agent.takeFault(new Error("x"));
	const scripted = await scriptedAgent({ answers: [{ text: "Half", truncated: true }], store: "disk" });
	await expectTranscript(await scripted.open(), "transcript.txt");
	// @ts-expect-error: a failure has a kind
	await scriptedAgent({ answers: [{ failure: {} }] });
	// @ts-expect-error: there is no such outcome
	if ((await session.prompt("x")).outcome === "done") throw new Error();
	return await session.prompt("More");
}
`,
	);
	const compiler = path.join(root, "node_modules/.bin/tsc");
	expect(run(compiler, ...flags, "use.ts")).toMatchObject({ stdout: "", status: 0 });
});
