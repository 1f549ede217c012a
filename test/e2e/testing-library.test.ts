// `agentwire/testing` as it is built: the example suite in a project of its own, and the snippets of the guide as they are printed.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const guide = readFileSync(path.join(root, "docs/guides/test-your-integration.md"), "utf8");
const transcript = "transcripts/changes-nothing.txt";
let project = "";
/** Each runs vitest several times, which takes long where other tests run. */
const patient = { timeout: 300_000 };

beforeEach(() => {
	project = realpathSync(mkdtempSync(path.join(tmpdir(), "testing-library-")));
	const modules = path.join(project, "node_modules");
	mkdirSync(modules);
	symlinkSync(root, path.join(modules, "agentwire"));
	for (const name of ["vitest", "@types", "vite"])
		symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
	writeFileSync(path.join(project, "package.json"), '{"type":"module"}');
	mkdirSync(path.join(project, "tmp"));
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

function run(args: readonly string[], environment: Record<string, string> = {}) {
	const { PATH = "", HOME = "" } = process.env;
	const { status, stdout, stderr } = spawnSync(process.execPath, args, {
		cwd: project,
		encoding: "utf8",
		env: { PATH, HOME, NO_COLOR: "1", TMPDIR: path.join(project, "tmp"), ...environment },
		timeout: 100_000,
	});
	return { status, output: stdout + stderr };
}

const vitest = (environment: Record<string, string> = {}) =>
	run([path.join(root, "node_modules/vitest/vitest.mjs"), "run"], environment);

const answer = `data: ${JSON.stringify({
	candidates: [{ content: { role: "model", parts: [{ text: "It is 7 times 13." }] }, finishReason: "STOP" }],
})}\n\n`;
const providerScript = `require("node:http").createServer((request, response) => {
	request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(${JSON.stringify(answer)}));
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

/** What tests need to record cassettes: a provider in a process of its own, because vitest is waited for. */
async function startProvider() {
	const provider = spawn(process.execPath, ["-e", providerScript], { stdio: ["ignore", "pipe", "inherit"] });
	onTestFinished(() => void provider.kill());
	const [port] = await once(provider.stdout, "data");
	return {
		AGENTWIRE_UPDATE_CASSETTES: "1",
		GEMINI_API_KEY: "sk-test-0123456789abcdef",
		GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${String(port).trim()}`,
	};
}

const leftovers = () => readdirSync(path.join(project, "tmp")).filter((name) => name.startsWith("agentwire-test-"));

describe("examples/testing", () => {
	it("passes, notices a changed session, accepts it on demand, and leaves nothing behind", patient, () => {
		cpSync(path.join(root, "examples/testing"), project, { recursive: true });
		const accepted = readFileSync(path.join(project, transcript), "utf8");
		expect(vitest()).toMatchObject({ status: 0, output: expect.stringMatching(/Tests +4 passed/) });
		writeFileSync(path.join(project, transcript), accepted.replace("touch released", "touch other"));
		expect(vitest()).toMatchObject({
			status: 1,
			output: expect.stringMatching(
				/in line 3:\n *- call #1 Shell .*touch other.*\n *\+ call #1 Shell .*touch released/,
			),
		});
		expect(vitest({ AGENTWIRE_UPDATE_TRANSCRIPTS: "1" }).status).toBe(0);
		expect(readFileSync(path.join(project, transcript), "utf8")).toBe(accepted);
		expect(leftovers()).toEqual([]);
	});

	it("records and replays a cassette", patient, async () => {
		cpSync(path.join(root, "examples/testing"), project, { recursive: true });
		expect(vitest(await startProvider())).toMatchObject({
			status: 0,
			output: expect.stringMatching(/Tests +5 passed/),
		});
		expect(vitest()).toMatchObject({ status: 0, output: expect.stringMatching(/Tests +5 passed/) });
		const file = path.join(project, "cassettes/release-notes.jsonl");
		writeFileSync(file, readFileSync(file, "utf8").replaceAll("Write release notes", "Write notes"));
		expect(vitest()).toMatchObject({
			status: 1,
			output: expect.stringContaining(
				"The nearest is line 1. First difference: /body/contents/0/parts/0/text, character 7",
			),
		});
		expect(leftovers()).toEqual([]);
	});

	it("has types", patient, () => {
		cpSync(path.join(root, "examples/testing"), project, { recursive: true });
		const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--lib", "esnext,dom"];
		const compiler = path.join(root, "node_modules/typescript/bin/tsc");
		const files = ["release-notes.ts", "release-notes.test.ts"];
		expect(
			run([compiler, ...flags, "--types", "node", "--skipLibCheck", "--allowImportingTsExtensions", ...files]),
		).toEqual({
			status: 0,
			output: "",
		});
	});
});

describe("docs/guides/test-your-integration.md", () => {
	const snippets = [...guide.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);

	it("has snippets that pass as tests", patient, async () => {
		snippets.forEach((code, index) => {
			writeFileSync(path.join(project, `snippet-${index}.test.ts`), code);
		});
		const allPass = new RegExp(`Test Files +${snippets.length} passed`);
		expect(vitest({ AGENTWIRE_UPDATE_TRANSCRIPTS: "1", ...(await startProvider()) }).output).toMatch(allPass);
		expect(vitest().output).toMatch(allPass);
		const [printed = ""] = /```text\n(.*?)```/s.exec(guide)?.slice(1) ?? [];
		expect(readFileSync(path.join(project, "transcripts/rejected.txt"), "utf8")).toBe(printed);
		expect(leftovers()).toEqual([]);
	});
});
