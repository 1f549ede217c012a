// Client libraries in TypeScript: from the first call of a program to the first event and the first text, over the same model.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { startLoopbackModel } from "../../src/cli/conformance/model/loopback-model.ts";
import type { Choice } from "../choice.ts";
import { type Measure, toTable } from "../report.ts";
import { root } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

const run = promisify(execFile);
const program = path.join(root, "bench", "clients", "first-event.mjs");

interface Library {
	/** Its column. */
	readonly name: string;
	/** Its program in first-event.mjs. */
	readonly program: string;
	readonly file: string;
}

const library = (name: string) => path.join(root, "dist", "lib", name);

function findLibraries(sdks: string | null): readonly Library[] {
	const modules = [...(sdks === null ? [] : [path.join(sdks, "node_modules")]), path.join(root, "node_modules")];
	const installed = (name: string, packageName: string, kind: string, entry: string): Library[] => {
		const file = modules.map((each) => path.join(each, packageName, entry)).find((each) => existsSync(each));
		if (file !== undefined) return [{ name, program: kind, file }];
		process.stderr.write(`Without ${packageName}: install it in a directory and name that with --sdks.\n`);
		return [];
	};
	return [
		{ name: "connect()", program: "connect", file: library("client.mjs") },
		{ name: "createAgent()", program: "createAgent", file: library("index.mjs") },
		...installed("codex-sdk", "@openai/codex-sdk", "codex", "dist/index.js"),
		// It brings no executable: ours is the one that it starts.
		...installed("kimi-agent-sdk", "@moonshot-ai/kimi-agent-sdk", "kimi", "dist/index.mjs"),
	];
}

const settings = (url: string) => `default_model = "m"
[models.m]
provider = "p"
model = "m"
max_context_size = 100000
[providers.p]
type = "openai_legacy"
base_url = "${url}"
api_key = "none"
`;

export async function runClients(choice: Choice, folder: string): Promise<void> {
	const libraries = findLibraries(choice.sdks);
	const model = await startLoopbackModel(["text: Hello."]);
	const first = new Map<string, number[]>();
	const text = new Map<string, number[]>();
	const places = new Map(
		libraries.map(({ name }) => {
			const home = mkdtempSync(path.join(folder, "home-"));
			if (name !== "codex-sdk") writeFileSync(path.join(home, "config.toml"), settings(model.url));
			return [name, { home, workDir: mkdtempSync(path.join(folder, "work-")) }];
		}),
	);
	// Round 0 fills the caches of disk and compiler.
	for (let round = 0; round <= choice.runs; round += 1) {
		showProgress(choice, `run ${round} of ${choice.runs}`);
		for (const each of libraries) {
			const { home, workDir } = places.get(each.name) ?? { home: folder, workDir: folder };
			model.restart();
			const words = [program, each.program, each.file, choice.executable, model.url, workDir, home];
			const { stdout } = await run(process.execPath, words, { env: { PATH: process.env["PATH"] ?? "" } });
			const times: { readonly first: number; readonly text: number } = JSON.parse(stdout);
			if (round === 0) continue;
			first.set(each.name, [...(first.get(each.name) ?? []), times.first]);
			text.set(each.name, [...(text.get(each.name) ?? []), times.text]);
		}
	}
	model.close();
	endProgress(choice);
	const measures: Measure[] = [
		{ name: "first call to the first event", unit: "ms", values: first },
		{ name: "first call to the first text", unit: "ms", values: text },
	];
	printMeasures(choice, measures, toTable(measures, "connect()"));
}
