import { UsageError } from "../usage-error.ts";
import { readFlagValues, toKnown } from "./flag-values.ts";

export const conformanceDialects = [
	"wire",
	"legacy",
	"meerkat",
	"acp",
	"claude",
	"codex",
	"codex-exec",
	"gateway",
] as const;
export type ConformanceDialect = (typeof conformanceDialects)[number];

export const suiteNames = ["core", "approvals", "sessions", "faults"] as const;
export type Suite = (typeof suiteNames)[number];

export interface ConformanceCall {
	readonly dialect: ConformanceDialect;
	readonly command: string;
	readonly suites: readonly Suite[];
	/** A substring of scenario names; null runs all. */
	readonly only: string | null;
	readonly expectedFailures: string | null;
	readonly json: boolean;
	readonly junit: string | null;
}

const taken = ["--dialect", "--command", "--suite", "--only", "--expected-failures", "--junit"];

export function toConformanceCall(words: readonly string[]): ConformanceCall | null {
	const given = readFlagValues("conformance", words, { taken, plain: ["--json"] });
	if (given === null) return null;
	const [dialect, command, suite] = ["--dialect", "--command", "--suite"].map((flag) => given.get(flag));
	if (dialect === undefined || command === undefined) {
		const known = conformanceDialects.join(", ");
		throw new UsageError(`The command 'conformance' needs --dialect (${known}) and --command "COMMAND".`);
	}
	return {
		dialect: toKnown("--dialect", dialect, conformanceDialects),
		command,
		suites: suite === undefined ? suiteNames : suite.split(",").map((name) => toKnown("--suite", name, suiteNames)),
		only: given.get("--only") ?? null,
		expectedFailures: given.get("--expected-failures") ?? null,
		json: given.has("--json"),
		junit: given.get("--junit") ?? null,
	};
}
