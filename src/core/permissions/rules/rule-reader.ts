import type { Subject } from "../../../api/values/subject.ts";
import { cut } from "../../../base/text/sentence.ts";
import { parseRulePattern } from "./pattern.ts";
import type { Rule, RuleDeclaration, RuleOrigin } from "./rule.ts";
import { createRuleJudge } from "./rule-judge.ts";

export interface RuleProblem {
	readonly index: number;
	readonly member: "pattern" | "match" | "not_match";
	/** A clause without a capital or full stop. */
	readonly reason: string;
}

export interface ReadRules {
	readonly rules: readonly Rule[];
	readonly problems: readonly RuleProblem[];
}

export interface RuleSource extends Pick<RuleOrigin, "scope" | "file"> {
	readonly base: string | null;
	readonly home: string;
}

export async function readRules(declarations: readonly RuleDeclaration[], source: RuleSource): Promise<ReadRules> {
	const { scope, file, base, home } = source;
	const rules: Rule[] = [];
	const problems: RuleProblem[] = [];
	for (const [index, declaration] of declarations.entries()) {
		const { decision, pattern: text, reason, line, from = file } = declaration;
		const parsed = parseRulePattern(text, home);
		if (!parsed.ok) {
			problems.push({ index, member: "pattern", reason: `${JSON.stringify(cut(text, 100))}: ${parsed.reason}` });
			continue;
		}
		const rule: Rule = { decision, text, pattern: parsed.pattern, reason, origin: { scope, file: from, line }, base };
		rules.push(rule);
		problems.push(...(await failingExamples(rule, declaration, index, home)));
	}
	return { rules, problems };
}

/** The directory where examples are judged; they use paths relative to the workspace. */
const exampleRoot = "/workspace";

async function failingExamples(
	rule: Rule,
	{ match, notMatch }: RuleDeclaration,
	index: number,
	home: string,
): Promise<readonly RuleProblem[]> {
	if (match.length === 0 && notMatch.length === 0) return [];
	const judge = createRuleJudge({
		rules: [{ ...rule, base: null }],
		grants: () => [],
		allowsReadOnly: "never",
		place: {
			home,
			roots: async () => [exampleRoot],
			resolve: async (path) => path,
			repositoryProgram: async () => null,
		},
	});
	const isDecided = async (example: string): Promise<boolean> => {
		const subjects = [exampleSubject(rule, example, home)];
		return (await judge.decide({ action: "", byDefault: "ask", subjects }))?.decision === rule.decision;
	};
	const problems: RuleProblem[] = [];
	for (const example of match) {
		if (!(await isDecided(example))) {
			problems.push({
				index,
				member: "match",
				reason: `the rule does not apply to ${JSON.stringify(cut(example, 100))}`,
			});
		}
	}
	for (const example of notMatch) {
		if (await isDecided(example)) {
			problems.push({
				index,
				member: "not_match",
				reason: `the rule applies to ${JSON.stringify(cut(example, 100))}`,
			});
		}
	}
	return problems;
}

/** An example is a command line, a path, a URL or a name, depending on the pattern. */
function exampleSubject({ pattern }: Rule, example: string, home: string): Subject {
	switch (pattern.kind) {
		case "command":
			return { kind: "command", text: example, cwd: exampleRoot };
		case "file": {
			const named = example.startsWith("~/") ? home + example.slice(1) : example;
			const path = named.startsWith("/") ? named : `${exampleRoot}/${named.replace(/^\.\//, "")}`;
			return { kind: "file", operation: pattern.access, path };
		}
		case "network":
			return { kind: "network", url: example };
		case "web-search":
			return { kind: "web-search", query: example };
		case "mcp": {
			const [server = "", ...tool] = example.replace(/^mcp__/, "").split("__");
			return { kind: "mcp", server, tool: tool.join("__"), arguments: {} };
		}
		case "client-tool":
			return { kind: "client-tool", name: example, arguments: {} };
		case "plugin-tool":
			return { kind: "plugin-tool", name: example, directory: exampleRoot, arguments: {} };
		case "task":
			return { kind: "task", operation: "stop", id: example };
	}
}
