import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { errorText, KernelError } from "../../base/errors.ts";
import type { Installation } from "../../host/installation.ts";
import { parseTranscript } from "../../testing/transcripts/format.ts";
import type { ConformanceCall } from "../arguments/options/conformance-options.ts";
import { isFailure, type Result, toJson, toJunit, toLines, toSummary, verdictOf } from "./report.ts";
import { runScenario } from "./scenario.ts";
import { folderOf, suites } from "./suites.ts";

/** Milliseconds to wait for one line, which may include the start of a program. */
const patience = 20_000;

export async function runConformance(call: ConformanceCall, installation: Installation): Promise<number> {
	const { dialect, command, only, json, junit } = call;
	const expected = await readExpectedFailures(call.expectedFailures);
	const texts = await readScenarios(installation);
	const chosen = call.suites.flatMap((suite) =>
		suites[dialect][suite].map((name) => ({ suite, name: `${folderOf(dialect)}/${name}` })),
	);
	const scenarios = chosen.filter(({ name }) => only === null || name.includes(only));
	if (scenarios.length === 0) {
		const reason = only === null ? "the suite has no scenarios" : `no scenario's name contains '${only}'`;
		throw new KernelError("invalid-input", `There is nothing to run for ${dialect}: ${reason}.`);
	}
	const environment = Object.fromEntries(
		Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
	);
	const results: Result[] = [];
	for (const { suite, name } of scenarios) {
		const transcript = parseTranscript(name, texts[name] ?? "");
		const start = performance.now();
		const outcome = await runScenario(transcript, { dialect, command, environment, patience });
		const milliseconds = Math.round(performance.now() - start);
		const result = { suite, name, title: transcript.title, outcome, isExpected: expected.has(name), milliseconds };
		results.push(result);
		if (!json) process.stdout.write(toLines(result));
	}
	const stale = [...expected].filter((name) => !chosen.some((each) => each.name === name));
	process.stdout.write(json ? toJson(call, results, stale) : toSummary(results, stale));
	if (junit !== null) await writeFile(junit, toJunit(call, results)).catch(notUsable(junit, "written"));
	return stale.length > 0 || results.some((result) => isFailure(verdictOf(result))) ? 1 : 0;
}

async function readScenarios(installation: Installation): Promise<Readonly<Record<string, string>>> {
	const file = path.join(installation.documentsDir(), "dist", "scenarios.json");
	const text = await readFile(file, "utf8").catch(notUsable(file, "read"));
	const scenarios: Readonly<Record<string, string>> = JSON.parse(text);
	return scenarios;
}

/** Reads the names in the file, one per line; `#` starts a comment. */
async function readExpectedFailures(file: string | null): Promise<ReadonlySet<string>> {
	if (file === null) return new Set();
	const text = await readFile(file, "utf8").catch(notUsable(file, "read"));
	const names = text.split("\n").map((line) => line.replace(/#.*/, "").trim());
	return new Set(names.filter((name) => name !== ""));
}

function notUsable(file: string, done: string): (thrown: unknown) => never {
	return (thrown) => {
		throw new KernelError("invalid-input", `${file} cannot be ${done}: ${errorText(thrown)}`);
	};
}
