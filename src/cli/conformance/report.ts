import type { ConformanceCall, Suite } from "../arguments/options/conformance-options.ts";
import type { Outcome } from "./scenario.ts";

export interface Result {
	readonly suite: Suite;
	readonly name: string;
	readonly title: string;
	readonly outcome: Outcome;
	readonly isExpected: boolean;
	readonly milliseconds: number;
}

export type Verdict = "passed" | "skipped" | "failed" | "expected failure" | "unexpected pass";

export function verdictOf({ outcome, isExpected }: Result): Verdict {
	if (outcome.kind === "failed" && isExpected) return "expected failure";
	return outcome.kind === "passed" && isExpected ? "unexpected pass" : outcome.kind;
}

export function isFailure(verdict: Verdict): boolean {
	return verdict === "failed" || verdict === "unexpected pass";
}

function reasonOf({ outcome }: Result): string | null {
	if (outcome.kind === "failed") return `line ${outcome.line}: ${outcome.reason}`;
	return outcome.kind === "skipped" ? outcome.reason : null;
}

export function toLines(result: Result): string {
	const verdict = verdictOf(result);
	const lines = [`${verdict.padEnd(16)} ${result.suite}  ${result.name}  ${result.title}`];
	const { outcome } = result;
	if (outcome.kind === "skipped") lines.push(`  ${outcome.reason}`);
	if (verdict === "unexpected pass") lines.push("  Remove it from the file of expected failures.");
	if (verdict === "failed" && outcome.kind === "failed") {
		lines.push(`  line ${outcome.line}: ${outcome.reason}`);
		if (outcome.expected !== "") lines.push(`  expected: ${outcome.expected}`, `  received: ${outcome.received}`);
		const said = outcome.errorOutput.trim();
		if (said !== "")
			lines.push(
				...said
					.split("\n")
					.slice(-5)
					.map((line) => `  stderr: ${line}`),
			);
	}
	return `${lines.join("\n")}\n`;
}

export function countsOf(results: readonly Result[]): Readonly<Record<Verdict, number>> {
	const counts = { passed: 0, skipped: 0, failed: 0, "expected failure": 0, "unexpected pass": 0 };
	for (const result of results) counts[verdictOf(result)] += 1;
	return counts;
}

export function toSummary(results: readonly Result[], stale: readonly string[]): string {
	const counts = Object.entries(countsOf(results)).flatMap(([verdict, n]) => (n === 0 ? [] : [`${n} ${verdict}`]));
	const unknown = stale.map((name) => `The file of expected failures names ${name}, which was not run.\n`);
	return `${unknown.join("")}${counts.join(", ")}\n`;
}

export function toJson(call: ConformanceCall, results: readonly Result[], stale: readonly string[]): string {
	const scenarios = results.map((result) => {
		const { suite, name, title, outcome, milliseconds } = result;
		const { kind: _, ...details } = outcome;
		return { suite, name, title, verdict: verdictOf(result), milliseconds, ...details };
	});
	const { dialect, command } = call;
	return `${JSON.stringify({ dialect, command, counts: countsOf(results), stale, scenarios })}\n`;
}

export function toJunit({ dialect }: ConformanceCall, results: readonly Result[]): string {
	const cases = results.map((result) => {
		const { suite, name, title, milliseconds, outcome } = result;
		const head = `<testcase classname="${dialect}.${suite}" name="${toXml(`${name}: ${title}`)}" time="${milliseconds / 1000}"`;
		const reason = toXml(reasonOf(result) ?? "it was expected to fail");
		if (isFailure(verdictOf(result))) {
			const details = outcome.kind === "failed" ? `expected: ${outcome.expected}\nreceived: ${outcome.received}` : "";
			return `${head}><failure message="${reason}">${toXml(details)}</failure></testcase>`;
		}
		return outcome.kind === "passed" ? `${head}/>` : `${head}><skipped message="${reason}"/></testcase>`;
	});
	const failures = results.filter((result) => isFailure(verdictOf(result))).length;
	return [
		'<?xml version="1.0" encoding="UTF-8"?>',
		`<testsuite name="agentwire conformance" tests="${results.length}" failures="${failures}">`,
		...cases,
		"</testsuite>",
		"",
	].join("\n");
}

const entities: Readonly<Record<string, string>> = {
	"<": "&lt;",
	">": "&gt;",
	"&": "&amp;",
	'"': "&quot;",
	"\n": "&#10;",
};

function toXml(text: string): string {
	return text.replace(/[<>&"\n]/g, (found) => entities[found] ?? "").replace(/\p{Cc}/gu, "?");
}
