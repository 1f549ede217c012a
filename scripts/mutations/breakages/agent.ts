// What one turn does wrong.
import type { Breakage } from "../breakage.ts";

export const agent: readonly Breakage[] = [
	{
		name: "steps are counted from nought",
		file: "agent/turn.ts",
		find: 'dependencies.emit({ type: "step.started", n });',
		replace: 'dependencies.emit({ type: "step.started", n: n - 1 });',
	},
	{
		name: "the last allowed step is not taken",
		file: "agent/turn.ts",
		find: "n <= maxSteps",
		replace: "n < maxSteps",
	},
	{
		name: "a turn that was cancelled in a step has finished",
		file: "agent/turn.ts",
		find: 'reason: "cancelled" });\n\t\t\treturn { status: "cancelled" };',
		replace: 'reason: "cancelled" });\n\t\t\treturn { status: "finished" };',
	},
	{
		name: "a steer after the last answer does not prolong the turn",
		file: "agent/turn.ts",
		find: "if (goesOn || steered.any || !dependencies.steers.isEmpty()) continue;",
		replace: "if (goesOn || !dependencies.steers.isEmpty()) continue;",
	},
	{
		name: "a used-up budget does not end the turn before its next step",
		file: "agent/turn.ts",
		find: "const spent = dependencies.budget.exhausted();\n\t\tif (spent !== null) return failed(spent);\n\t\tconst step =",
		replace: "const step =",
	},
	{
		name: "what the model wrote is not counted into the context",
		file: "agent/step.ts",
		find: "inputTokens(usage) + usage.output",
		replace: "inputTokens(usage)",
	},
	{
		name: "every call gets the result of the first",
		file: "agent/step.ts",
		find: "const result = results[index]?.result;",
		replace: "const result = results[Math.min(index, 0)]?.result;",
	},
	{
		name: "a plain refusal ends the turn although another came with feedback",
		file: "agent/step.ts",
		find: ' && !rejections.includes("with-feedback")',
		replace: "",
	},
	{
		name: "the same call twice in an answer runs twice",
		file: "agent/running-calls.ts",
		find: "executions.get(key) ?? run(call)",
		replace: "run(call)",
	},
	{
		name: "the second of the same calls counts as the first",
		file: "agent/repetition.ts",
		find: "key === current.key ? current.count + 1 : 1",
		replace: "key === current.key ? current.count + 1 : 0",
	},
	{
		name: "the signature of a thought is lost",
		file: "agent/assembly.ts",
		find: 'if (part.type === "think") open.part = part;',
		replace: "",
	},
	{
		name: "one attempt more than allowed is made",
		file: "agent/retries.ts",
		find: "if (count >= limits.maxAttempts) return outcome;",
		replace: "if (count > limits.maxAttempts) return outcome;",
	},
	{
		name: "a cancel that comes while the intent is noted does not prevent the effect",
		file: "agent/tool-call.ts",
		find: "const executed = signal.aborted ? null : await attempt(() => runWatched(preparation, call, dependencies, signal));",
		replace: "const executed = await attempt(() => runWatched(preparation, call, dependencies, signal));",
	},
	{
		name: "an effect does not wait until its intent is persisted",
		file: "agent/tool-call.ts",
		find: "await journal.started(call, preparation.hasEffect);",
		replace: "void journal.started(call, preparation.hasEffect).catch(() => {});",
	},
];
