// Tools that do nothing but count: two that need an approval, one that needs none, one that takes its time. And the real
// ones that talk: questions, plan mode and subagents.
import path from "node:path";
import * as v from "valibot";
import { type ToolReturn, toolSuccess } from "../../../src/api/values/content.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { sleep, systemClock } from "../../../src/base/clock.ts";
import { isRecord } from "../../../src/base/json.ts";
import { createAgent } from "../../../src/core/tools/agent.ts";
import { findRipgrep } from "../../../src/core/tools/search/ripgrep.ts";
import { createAskUserQuestion } from "../../../src/core/tools/session/ask-user-question.ts";
import { createEnterPlanMode, createExitPlanMode } from "../../../src/core/tools/session/plan-mode.ts";
import type { OpenedCall, Tool, ToolEnvironment } from "../../../src/core/tools/tool.ts";
import { defineTool, readOnly } from "../../../src/core/tools/tool-definition.ts";
import type { SessionOperations } from "../../../src/kernel/session/session-parts.ts";
import type { Files } from "../../../src/ports/files/port.ts";
import { noProcesses, noSecrets, noWeb } from "./session-doubles.ts";

/** An effect that began. */
export interface Effect {
	readonly toolCallId: string;
	readonly action: string;
	/** Whether a subagent's tool had it. */
	readonly isInside: boolean;
}

/** `onEffect` is called when an effect begins. */
export function createCountingTools(
	clock: Clock,
	isInside: boolean,
	onEffect: (effect: Effect) => void,
): readonly Tool[] {
	const make = (name: string, action: string | null) =>
		countingTool(name, action, clock, (effect) => onEffect({ ...effect, isInside }));
	return [make("Touch", "touch"), make("Poke", "poke"), make("Look", null), make("Doze", null)];
}

/** The real tools that talk to a person or to subagents, and one that writes the plan. */
export function createTalkingTools(operations: SessionOperations, files: Files): readonly Tool[] {
	const environment: ToolEnvironment = {
		...operations,
		workDir: "/home/me/project",
		additionalDirs: () => [],
		skillDirs: [],
		environment: {},
		home: "/home/me",
		editor: null,
		outputDir: "/share/output",
		files,
		allFiles: files,
		secrets: noSecrets,
		processes: noProcesses,
		sandbox: null,
		web: noWeb,
		findRipgrep: async () => findRipgrep(),
		clock: systemClock,
		todos: { read: () => [], write: async () => {} },
	};
	const tools = [
		...(operations.agents === null ? [] : [createAgent(operations.agents, environment)]),
		createAskUserQuestion(environment),
		createEnterPlanMode(environment),
		createExitPlanMode(environment),
		createWritePlan(environment),
	];
	// The real parameters need a library to be loaded: time that an interleaving cannot see.
	return tools.map((tool) => ({ ...tool, parameters: async () => ({ type: "object" }) }));
}

function createWritePlan({ plan, files }: ToolEnvironment): Tool {
	return defineTool({
		name: "WritePlan",
		description: "Writes the plan.",
		schema: v.object({}),
		prepare: () =>
			readOnly(async () => {
				const file = plan.file();
				if (file === null) return toolSuccess({ output: "no plan file" });
				await files.makeDirectory(path.dirname(file));
				await files.replace(file, "1. Do it.\n");
				return toolSuccess({ output: `written to ${file}` });
			}),
	});
}

/** Milliseconds `Doze` takes. */
export const dozing = 5000;

function countingTool(
	name: string,
	action: string | null,
	clock: Clock,
	onEffect: (effect: Omit<Effect, "isInside">) => void,
): Tool {
	return {
		name,
		description: name,
		parameters: async () => ({ type: "object" }),
		async open(value, { toolCallId }): Promise<OpenedCall> {
			if (!isRecord(value)) return { ok: false, issue: "an object is needed" };
			return {
				ok: true,
				preparation: {
					kind: "ready",
					approval:
						action === null
							? null
							: {
									byDefault: "ask",
									action,
									subjects: [{ kind: "client-tool", name, arguments: {} }],
									description: `${name} it`,
									display: [],
								},
					hasEffect: action !== null,
					target: action === null ? null : "the thing",
					async execute(signal): Promise<ToolReturn> {
						if (action !== null) onEffect({ toolCallId, action });
						if (name === "Doze") await sleep(clock, dozing, signal);
						return toolSuccess({ output: `${name} done` });
					},
				},
			};
		},
	};
}
