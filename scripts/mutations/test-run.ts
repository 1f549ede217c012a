// Runs fast tests in a copy of the tree until one fails.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";

/** A test that failed; `name` null when its file could not even be loaded. */
export interface FailedTest {
	readonly file: string;
	readonly name: string | null;
}

export type TestRun = { readonly kind: "passed" } | { readonly kind: "failed"; readonly test: FailedTest } | Hung;
interface Hung {
	readonly kind: "hung";
}

/** Milliseconds that the tests may take before they are ended. */
const patience = 15 * 60_000;

const reportSchema = v.object({
	testResults: v.array(
		v.object({
			name: v.string(),
			status: v.string(),
			assertionResults: v.array(v.object({ fullName: v.string(), status: v.string() })),
		}),
	),
});

/** `selection` is what to say to vitest of the tests: files, folders, or those related to a file. */
export async function runTests(directory: string, selection: readonly string[]): Promise<TestRun> {
	const report = path.join(directory, "report.json");
	rmSync(report, { force: true });
	const vitest = path.join(directory, "node_modules", "vitest", "vitest.mjs");
	const fixed = ["--run", "--project=fast", "--bail=1", "--passWithNoTests", "--reporter=json"];
	const child = spawn(process.execPath, [vitest, ...selection, ...fixed, `--outputFile=${report}`], {
		cwd: directory,
		stdio: "ignore",
		timeout: patience,
		killSignal: "SIGKILL",
	});
	const stop = () => child.kill("SIGKILL");
	process.once("exit", stop);
	const [code] = await once(child, "exit");
	process.removeListener("exit", stop);
	if (child.signalCode !== null) return { kind: "hung" };
	if (code === 0) return { kind: "passed" };
	if (!existsSync(report)) throw new Error(`vitest ended with ${String(code)} and left no report`);
	return { kind: "failed", test: readFailure(readFileSync(report, "utf8"), directory) };
}

function readFailure(report: string, directory: string): FailedTest {
	const { testResults } = v.parse(reportSchema, JSON.parse(report));
	for (const { name: file, assertionResults } of testResults) {
		const failed = assertionResults.find((assertion) => assertion.status === "failed");
		if (failed !== undefined) return { file: path.relative(directory, file), name: failed.fullName };
	}
	const broken = testResults.find((result) => result.status === "failed");
	return { file: broken === undefined ? "?" : path.relative(directory, broken.name), name: null };
}
