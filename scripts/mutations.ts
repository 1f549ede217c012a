// Breaks the product deliberately, one line at a time in a copy of the tree, and says which fast test notices.
// Run with `npm run mutations`; words after `--` choose those breakages whose name or file holds one of them.
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Breakage } from "./mutations/breakage.ts";
import { breakages } from "./mutations/breakages.ts";
import { type FailedTest, runTests, type TestRun } from "./mutations/test-run.ts";
import { createWorkingCopy, type WorkingCopy } from "./mutations/working-copy.ts";

type Outcome =
	| Exclude<TestRun, { kind: "failed" }>
	| { readonly kind: "caught" | "unsteady"; readonly test: FailedTest };

const root = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const chosen = breakages.filter(
	({ name, file }) => words.length === 0 || words.some((word) => `${name} ${file}`.includes(word)),
);
if (chosen.length === 0) {
	console.error(`No breakage is about: ${words.join(" ")}`);
	process.exit(2);
}

/** The tests next to the file, whole conversations, what imports it at all, and then all: a failure ends the row. */
function stagesOf({ file }: Breakage): readonly (readonly string[])[] {
	const source = path.join("src", file);
	return [[path.dirname(source)], ["test/transcripts"], ["related", source], []];
}

/** How often a stage is run anew when what failed there fails without the breakage too, as on a machine that is busy. */
const attempts = 3;

async function tryBreakage(breakage: Breakage, copy: WorkingCopy): Promise<Outcome> {
	let unsteady: FailedTest | null = null;
	for (const stage of stagesOf(breakage)) {
		for (let attempt = 1; attempt <= attempts; attempt += 1) {
			const run = await runBroken(breakage, copy, stage);
			if (run.kind === "passed") break;
			if (run.kind === "hung") return run;
			if (await passes(run.test, copy)) return { kind: "caught", test: run.test };
			unsteady = run.test;
		}
	}
	return unsteady === null ? { kind: "passed" } : { kind: "unsteady", test: unsteady };
}

async function runBroken(breakage: Breakage, copy: WorkingCopy, stage: readonly string[]): Promise<TestRun> {
	const mend = copy.break(breakage);
	try {
		return await runTests(copy.directory, stage);
	} finally {
		mend();
	}
}

/** A test that fails without the breakage too has not noticed it. */
async function passes({ file, name }: FailedTest, copy: WorkingCopy): Promise<boolean> {
	const selection = name === null ? [] : ["--testNamePattern", name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")];
	return (await runTests(copy.directory, [file, ...selection])).kind === "passed";
}

const copy = createWorkingCopy(root);
process.once("exit", () => copy.remove());
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const missed: string[] = [];
console.log("| What is broken | Where | Caught by |\n| --- | --- | --- |");
for (const breakage of chosen) {
	const outcome = await tryBreakage(breakage, copy);
	if (outcome.kind !== "caught") missed.push(breakage.name);
	console.log(`| ${breakage.name} | \`${breakage.file}\` | ${describe(outcome)} |`);
}
console.log(`\n${chosen.length - missed.length} of ${chosen.length} caught.`);
for (const name of missed) console.log(`NOT CAUGHT: ${name}`);
process.exitCode = missed.length === 0 ? 0 : 1;

function describe(outcome: Outcome): string {
	switch (outcome.kind) {
		case "passed":
			return "**NOT CAUGHT**";
		case "hung":
			return "**NOT CAUGHT**: the tests hung";
		case "unsteady":
			return `**NOT CAUGHT**: ${describeTest(outcome.test)} fails without it too`;
		case "caught":
			return describeTest(outcome.test);
	}
}

function describeTest({ file, name }: FailedTest): string {
	const title = name === null ? "cannot be loaded" : name.replaceAll("|", "\\|").replaceAll("\n", " ").slice(0, 120);
	return `\`${file}\`: ${title}`;
}
