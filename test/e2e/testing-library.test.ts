// `agentwire/testing` as it is built: the example suite in a project of its own, and the snippets of the guide as they are printed.
import { spawnSync } from "node:child_process";
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
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const guide = readFileSync(path.join(root, "docs/guides/test-your-integration.md"), "utf8");
const transcript = "transcripts/changes-nothing.txt";
let project = "";

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
		timeout: 28_000,
	});
	return { status, output: stdout + stderr };
}

const vitest = (environment: Record<string, string> = {}) =>
	run([path.join(root, "node_modules/vitest/vitest.mjs"), "run"], environment);

const leftovers = () => readdirSync(path.join(project, "tmp")).filter((name) => name.startsWith("agentwire-test-"));

describe("examples/testing", () => {
	it("passes, notices a changed session, accepts it on demand, and leaves nothing behind", () => {
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

	it("has types", () => {
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

	it("has snippets that pass as tests", () => {
		snippets.forEach((code, index) => {
			writeFileSync(path.join(project, `snippet-${index}.test.ts`), code);
		});
		expect(vitest({ AGENTWIRE_UPDATE_TRANSCRIPTS: "1" }).output).toMatch(
			new RegExp(`Test Files +${snippets.length} passed`),
		);
		const [printed = ""] = /```text\n(.*?)```/s.exec(guide)?.slice(1) ?? [];
		expect(readFileSync(path.join(project, "transcripts/rejected.txt"), "utf8")).toBe(printed);
		expect(leftovers()).toEqual([]);
	});
});
