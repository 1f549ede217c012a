// What permissions and the sandbox do wrong.
import type { Breakage } from "../breakage.ts";

export const permissions: readonly Breakage[] = [
	{
		name: "the first verdict of the policies counts, not the worst",
		file: "permissions/policy.ts",
		find: "if (worst === null || isOpen(worst) || isWorse(verdict.decision, worst.decision)) worst = verdict;",
		replace: "worst ??= verdict;",
	},
	{
		name: "the first rule that speaks of a call counts, not the worst",
		file: "permissions/rules/ruling.ts",
		find: "if (worst === null || isWorse(rule.decision, worst.decision)) worst = rule;",
		replace: "worst ??= rule;",
	},
	{
		name: "yolo approves what a rule denies",
		file: "permissions/modes.ts",
		find: "\tconst { isYolo, isAway, approvesWhileAway, canAsk, whenUnattended } = circumstances;",
		replace:
			'\tconst { isYolo, isAway, approvesWhileAway, canAsk, whenUnattended } = circumstances;\n\tif (isYolo) return { decision: "allow", by: "mode", reason: "" };',
	},
	{
		name: "a project's file is trusted whatever its content",
		file: "kernel/compose/trusted-files.ts",
		find: "Object.hasOwn(trusted.files, file) && trusted.files[file] === hash",
		replace: 'Object.hasOwn(trusted.files, file) && hash !== ""',
	},
	{
		name: "a project's rules allow without trust",
		file: "kernel/compose/permissions.ts",
		find: 'all.push(...rules.filter(({ decision }) => trusted || decision !== "allow"));',
		replace: "all.push(...rules);",
	},
	{
		name: "rules are in force although one of them is unsound",
		file: "kernel/compose/permissions.ts",
		find: "if (problems.length > 0) {",
		replace: "if (problems.length > 100) {",
	},
	{
		name: "an approval for the session covers the whole program",
		file: "permissions/rules/command-grants.ts",
		find: 'tokens.map(shellWord).join(" ")}',
		replace: 'tokens.slice(0, 1).map(quoted).join(" ")}',
	},
	{
		name: "a link is judged by the file that it leads to alone",
		file: "permissions/rules/rule-judge.ts",
		find: "[subject.path, ...(subject.named === undefined ? [] : [subject.named])]",
		replace: "[subject.path]",
	},
	{
		name: "what may not be read may be edited",
		file: "permissions/rules/file-judge.ts",
		find: 'if (read === null || read.decision === "allow") return write;',
		replace: "if (read === null || roots.length > 0) return write;",
	},
	{
		name: "a decision is not in the journal",
		file: "kernel/interactions/approvals.ts",
		find: 'await emit({ type: "permission.decided", toolCallId: call.id, ...decided }, {});',
		replace: "void decided;",
	},
	{
		name: "an approval for the session does not wait for another change of approvals",
		file: "kernel/interactions/approval-state.ts",
		find: 'await this.#changes.run("", async () => {',
		replace: "await this.#changes.run(String(Math.random()), async () => {",
	},
	{
		name: "a command leaves the sandbox unasked",
		file: "permissions/sandbox-policy.ts",
		find: 'subject.kind === "command" && subject.outsideSandbox === true)',
		replace: 'subject.kind === "task" && subject.operation !== "stop")',
	},
	{
		name: "hidden paths can be read in the sandbox",
		file: "sandbox/policy.ts",
		find: "...[...actingCredentials.files, ...actingCredentials.directories, ...credentialFiles].map(atHome),\n\t\t\t...shareDirs,",
		replace: "",
	},
	{
		name: "a command gets the keys of model providers",
		file: "sandbox/environment.ts",
		find: "!keyNames.has(name.toUpperCase()) && !values.has(value)",
		replace: "keyNames.size > 0 && values.size >= 0",
	},
];
