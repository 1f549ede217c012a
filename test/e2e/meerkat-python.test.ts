// The published Python clients of Meerkat RPC, oldest to newest. `AGENTWIRE_MEERKAT_PYTHON` names directories of virtual
// environments, separated by colons, each with one version of `meerkat-sdk`.
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createStage, executablePath } from "../support/executable/executable.ts";

const environments = (process.env["AGENTWIRE_MEERKAT_PYTHON"] ?? "").split(":").filter((each) => each !== "");
if (environments.length === 0)
	console.warn("skipped: clients of Meerkat RPC in Python (AGENTWIRE_MEERKAT_PYTHON names none)");

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/meerkat/${name}`, import.meta.url));
const document = new URL("../../docs/guides/meerkat.md", import.meta.url);
const run = promisify(execFile);
const version = "import importlib.metadata; print(importlib.metadata.version('meerkat-sdk'))";

/** What each client could use, by its version. */
const shownBy = new Map<string, Readonly<Record<string, unknown>>>();

const scripts = Array.from({ length: 20 }, (_, index) => `think: hm\ntext: answer ${index + 1}`);

/** Runs a program of the client in an environment; gives its version and what the program printed. */
async function use(program: string, directory: string) {
	const python = path.join(directory, "bin", "python");
	const { stdout: installed } = await run(python, ["-c", version]);
	const stage = createStage({ scripts });
	const executable = path.join(stage.workDir, "..", "rkat-rpc");
	symlinkSync(executablePath, executable);
	const { stdout } = await run(python, [fixture(program), executable], {
		cwd: stage.workDir,
		env: { ...stage.environment, PATH: process.env["PATH"], AGENTWIRE_CONTRACT: installed.trim() },
	});
	return { installed: installed.trim(), shown: JSON.parse(stdout) };
}

describe.skipIf(environments.length === 0).each(environments.map((each) => [path.basename(each), each]))(
	"the client in %s",
	(_name, directory) => {
		it("connects to the contract of its version, and uses it", { timeout: 120_000 }, async () => {
			const { installed, shown } = await use("scenario.py", directory);
			shownBy.set(installed, shown);
			expect(shown.refused).toContain("hooks_override.disable");
			expect({ ...shown, refused: "" }).toEqual({
				create: ["answer 1", 1, 0],
				turn: ["answer 2", 0],
				stream: [expect.arrayContaining(["RunStarted", "TextDelta", "RunCompleted"]), "answer 3"],
				create_streaming: [expect.arrayContaining(["RunStarted", "TextDelta", "RunCompleted"]), "answer 1"],
				deferred: "answer 1",
				interrupt: null,
				list: true,
				read: "answer 3",
				history: ["system", "user", "block_assistant"],
				refused: "",
				unknown: "SESSION_NOT_FOUND",
				configuration: true,
				archive: false,
			});
		});

		it("runs 50 sessions of 20 turns", { timeout: 180_000 }, async () => {
			expect((await use("many.py", directory)).shown).toEqual({ turns: 1000, right: 1000 });
		});
	},
);

/** A feature that failed was reported as a text with the name of its error. */
function isUsable(shown: unknown): boolean {
	return typeof shown !== "string" || !/^\w*(Error|Exception): /.test(shown);
}

/** Fewer make another table. */
const tabled = 4;

it.skipIf(environments.length < tabled)(
	"the table of docs/guides/meerkat.md has the features that each client could use",
	() => {
		const versions = [...shownBy.keys()];
		const features = Object.keys(Object.assign({}, ...shownBy.values()));
		const cells = (feature: string) => versions.map((each) => (isUsable(shownBy.get(each)?.[feature]) ? "yes" : "no"));
		const rows = features.map((feature) => `| \`${feature}\` | ${cells(feature).join(" | ")} |`);
		const head = [`| Feature | ${versions.join(" | ")} |`, `| --- |${" --- |".repeat(versions.length)}`];
		const text = readFileSync(document, "utf8");
		const [start, end] = ["<!-- made by test/e2e/meerkat-python.test.ts -->\n", "\n<!-- end made -->"];
		const from = text.indexOf(start) + start.length;
		const to = text.indexOf(end, from);
		const table = ["", ...head, ...rows, ""].join("\n");
		if (process.env["AGENTWIRE_UPDATE"] === "1") writeFileSync(document, text.slice(0, from) + table + text.slice(to));
		expect(versions.length).toBe(environments.length);
		expect(readFileSync(document, "utf8")).toContain(`${start}${table}${end}`);
	},
);
