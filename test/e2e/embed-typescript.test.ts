// The guide and the examples for embedding in TypeScript: each snippet is run as it is printed, each example as a program.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { readTokens } from "../support/gateway/token-file.ts";

const root = path.resolve(import.meta.dirname, "../..");
const guide = readFileSync(path.join(root, "docs/guides/embed-typescript.md"), "utf8");

const snippets = new Map(
	[...guide.matchAll(/^## ([^\n]+)\n[^#]*?```ts\n(.*?)```/gms)].map(([, heading = "", code = ""]) => [heading, code]),
);

/** What the model says to the snippet below a heading, and what the snippet prints. */
const cases: Readonly<Record<string, readonly [scripts: readonly string[], printed: string | RegExp]>> = {
	"The first answer": [["usage: output=2\ntext: A library."], "A library.\nfinished: 2 tokens\n"],
	"Approvals and questions": [
		[toolCall("c1", "Shell", { command: "touch hi" }), "text: Created."],
		/^Shell: .*touch hi.*\nCreated\.\n$/s,
	],
	Tools: [[toolCall("c1", "weather", { city: "Bern" }), "text: 20 degrees."], "20 degrees.\n"],
	"Structured output": [['text: {"title":"Files","count":3}'], "3\n"],
	"Many sessions, and earlier ones": [["text: Much."], /^\[ 'Much\.', 'Much\.' \]\n(.+ What is.+\n){2}$/],
	"Over HTTP": [["text: A library."], "A library.\n"],
	"In your own process": [["text: A library."], "A library.\n"],
	"Your own store": [["text: I will."], "Remember the number 7\nI will.\n"],
	"Test it": [[], ""],
};

/** A project that has the package installed. */
function createProject(scripts: readonly string[]): Stage {
	const stage = createStage({ scripts });
	const modules = path.join(stage.workDir, "node_modules");
	mkdirSync(modules);
	symlinkSync(root, path.join(modules, "agentwire"));
	symlinkSync(path.join(root, "node_modules/zod"), path.join(modules, "zod"));
	writeFileSync(path.join(stage.workDir, "package.json"), '{"type":"module"}');
	const bot = path.join(stage.workDir, ".my-bot");
	mkdirSync(bot);
	cpSync(path.join(stage.shareDir, "config.toml"), path.join(bot, "config.toml"));
	return stage;
}

async function run(stage: Stage, args: readonly string[], input = "", environment: Record<string, string> = {}) {
	const child = spawn(process.execPath, args, {
		cwd: stage.workDir,
		env: { ...stage.environment, HOME: stage.workDir, NO_COLOR: "1", ...environment },
		timeout: 25_000,
	});
	child.stdin.end(input);
	const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
	const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
	return { stdout, stderr, code };
}

describe("docs/guides/embed-typescript.md", () => {
	it("has a test for each snippet", () => {
		expect(Object.keys(cases)).toEqual([...snippets.keys()]);
		expect(snippets.size).toBe(guide.split("```ts").length - 1);
	});

	it.each(Object.entries(cases))("%s", async (heading, [scripts, printed]) => {
		const stage = createProject(scripts);
		const environment: Record<string, string> = {};
		if (heading === "Over HTTP") {
			const [line] = await stage.serve("serve", "--json", "--port", "0").readUntil(() => true);
			environment["AGENTWIRE_URL"] = Object(line).url;
			environment["AGENTWIRE_TOKEN"] = readTokens(path.join(stage.shareDir, "gateway.json")).control ?? "";
		}
		writeFileSync(path.join(stage.workDir, "snippet.js"), snippets.get(heading) ?? "");
		const { stdout, stderr, code } = await run(stage, ["snippet.js"], "", environment);
		expect([stderr, code]).toEqual(["", 0]);
		if (typeof printed === "string") expect(stdout).toBe(printed);
		else expect(stdout).toMatch(printed);
	});
});

const tsx = ["--import", `file://${path.join(root, "node_modules/tsx/dist/loader.mjs")}`];
const example = (name: string) => path.join(root, "examples/typescript", name);

describe("examples/typescript", () => {
	it("chat-bot.ts answers each channel, after its approval", async () => {
		const stage = createProject([toolCall("c1", "Shell", { command: "touch hi" }), "text: Done."]);
		const bot = spawn(process.execPath, [...tsx, example("chat-bot.ts")], {
			cwd: stage.workDir,
			env: stage.environment,
		});
		const say = (text: string) => bot.stdin.write(`${JSON.stringify({ channel: "c1", text })}\n`);
		say("Say hi");
		const posted: string[] = [];
		for await (const line of createInterface({ input: bot.stdout })) {
			posted.push(JSON.parse(line).text);
			if (posted.length === 1) say("yes");
			else bot.stdin.end();
		}
		expect(posted).toEqual([expect.stringMatching(/^May I\? Shell: .*touch hi/s), "Done."]);
	});

	it("ci-reviewer.ts prints findings, and exits with 1 for one that blocks", async () => {
		const finding = { file: "a.ts", line: 3, severity: "blocks", text: "divides by zero" };
		const stage = createProject([`text: ${JSON.stringify({ findings: [finding] })}`]);
		expect(await run(stage, [...tsx, example("ci-reviewer.ts")], "+ a / 0")).toEqual({
			stdout: "a.ts:3: blocks: divides by zero\n",
			stderr: "",
			code: 1,
		});
	});

	it("chat-route.ts streams the answer, in the same session for each message", async () => {
		const stage = createProject(["text: One.", "text: Two."]);
		writeFileSync(
			path.join(stage.workDir, "use.mjs"),
			`import { kernel, POST } from ${JSON.stringify(example("chat-route.ts"))};
const ask = (body) => POST(new Request("http://x/", { method: "POST", body: JSON.stringify(body) }));
const first = await ask({ text: "1" });
console.log(await first.text());
console.log(await (await ask({ session: first.headers.get("x-session"), text: "2" })).text());
await (await kernel()).close();
`,
		);
		expect(await run(stage, [...tsx, "use.mjs"])).toEqual({ stdout: "One.\nTwo.\n", stderr: "", code: 0 });
	});
});
