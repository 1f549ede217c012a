// A fixed-seed piece of the oracle campaign, and its parts: what really ran is seen, and what was not predicted is noticed.
import { describe, expect, it } from "vitest";
import type { CommandReading, Word } from "../../src/core/permissions/shell/script.ts";
import { judge } from "./oracle/judge.ts";
import { playOracle } from "./oracle/oracle-child.ts";
import { createRunner } from "./oracle/runner.ts";

const runner = createRunner();
runner?.close();

const literal = (text: string): Word => ({ kind: "literal", text });
const dynamic: Word = { kind: "dynamic", text: "$x", why: "a variable", mayBeOption: true };
const values = new Map<string, readonly Word[]>();
const reading = (
	words: readonly Word[],
	inner: readonly CommandReading[] = [],
	cwd: string | null = "/work",
): CommandReading => ({
	command: { text: "", words, assignments: [], redirects: [], cwd, isFed: false, isDeclaredHere: false },
	inner: inner.length === 0 ? null : { commands: inner, isTransparent: true, isFollowed: true },
});

describe.skipIf(runner === null)("the oracle campaign", () => {
	it("finds that what scripts run is predicted", async () => {
		const report = await playOracle(20, 0, 100);
		expect(report?.findings).toEqual([]);
		expect(report?.executions).toBeGreaterThan(50);
	});

	it("sees what scripts run, apart from each other", async () => {
		const run = createRunner();
		const scripts = ["rm 'a b' >f; cd a; bash -c 'p1 $0' x", "p2 f* &", "while :; do :; done", "/bin/rm; p3 '' | p3"];
		const runs = await run?.run(scripts);
		expect(runs?.map(({ executions }) => executions.map(({ words }) => words).toSorted())).toEqual([
			[
				["bash", "-c", "p1 $0", "x"],
				["p1", "x"],
				["rm", "a b"],
			],
			[["p2", "f*"]],
			[],
			[["p3"], ["p3", ""], ["rm"]],
		]);
		expect(runs?.[0]?.files).toEqual(["/work/f"]);
		expect(runs?.[0]?.executions.map(({ cwd }) => cwd)).toEqual(["/work", "/work/a", "/work/a"]);
		run?.close();
	});
});

it.each([
	["the same words", [reading([literal("rm"), literal("x")])], "predicted"],
	["a path to the program", [reading([literal("/bin/rm"), literal("x")])], "predicted"],
	["a word that can be anything", [reading([literal("rm"), dynamic])], "predicted"],
	["a wrapper", [reading([literal("env")], [reading([literal("rm"), literal("x")])])], "predicted"],
	["a directory that it leaves open", [reading([literal("rm"), literal("x")], [], null)], "predicted"],
	["other words", [reading([literal("rm"), literal("y")])], "finding"],
	["fewer words", [reading([literal("rm")])], "finding"],
	["another program", [reading([literal("ls"), literal("x")])], "finding"],
	["another directory", [reading([literal("rm"), literal("x")], [], "/tmp")], "finding"],
])("the oracle campaign judges a reading with %s", async (_, commands, outcome) => {
	const run = { executions: [{ words: ["rm", "x"], cwd: "/work" }], files: [] };
	expect((await judge({ commands, values, doubts: [] }, run)).outcome).toBe(outcome);
	expect((await judge({ commands, values, doubts: [{ why: "", text: "" }] }, run)).outcome).toBe("doubt");
});

it("the oracle campaign notices a file that no redirection writes", async () => {
	const { command } = reading([literal("rm")]);
	const commands = [
		{ inner: null, command: { ...command, redirects: [{ operation: "write", target: literal("f") }] } },
	] as const;
	expect((await judge({ commands, values, doubts: [] }, { executions: [], files: ["/work/f"] })).outcome).toBe(
		"ran nothing",
	);
	expect((await judge({ commands, values, doubts: [] }, { executions: [], files: ["/tmp/f"] })).outcome).toBe(
		"finding",
	);
});
