// Runs a flow: one nested turn per node, in the order that the model decides (wire-protocol §4.14).

import { textPart, toParts, type UserInput } from "../../api/values/content.ts";
import type { TurnOutcome } from "../../api/values/event.ts";
import { lastText } from "../../core/agent/context.ts";
import {
	type DecisionNode,
	decisionPrompt,
	type Flow,
	type FlowNode,
	readChoice,
	type TaskNode,
} from "../../core/definitions/flows/flow.ts";
import type { CommandRun } from "../commands/command.ts";

/** Agent input at a node; `isRepeated` when its last answer chose none of the edges. */
type ToInput = (node: TaskNode | DecisionNode, isRepeated: boolean) => UserInput;

export interface FlowRun {
	readonly flow: Flow;
	readonly toInput: ToInput;
	/** Maximum nodes to run. Each repetition counts: a model that never chooses would loop forever. */
	readonly moveLimit: number;
	readonly limit: "flow" | "loop";
}

const flowMoveLimit = 1000;

export function skillFlow(flow: Flow, request: string): FlowRun {
	let isFirst = true;
	return {
		flow,
		moveLimit: flowMoveLimit,
		limit: "flow",
		toInput(node, isRepeated) {
			const text = node.kind === "decision" ? decisionPrompt(node, isRepeated) : node.text;
			const suffix = isFirst && request !== "" ? `\n\nUser request:\n${request}` : "";
			isFirst = false;
			return text + suffix;
		},
	};
}

const loopQuestion =
	"Look at what you have done for this so far. If something of it is missing, wrong or not shown to work, go on with that now. If all of it is done and checked, stop.";

/** `iterations` counts repetitions after the first run; -1 for unlimited. */
export function loopOver(input: UserInput, iterations: number): FlowRun {
	const parts = toParts(input);
	const decision: DecisionNode = {
		kind: "decision",
		text: loopQuestion,
		branches: new Map([
			["CONTINUE", "again"],
			["STOP", "end"],
		]),
	};
	const nodes: Flow["nodes"] = new Map<string, FlowNode>([
		["begin", { kind: "begin", next: "first" }],
		["first", { kind: "task", text: "", next: "again" }],
		["again", decision],
		["end", { kind: "end" }],
	]);
	return {
		flow: { begin: "begin", nodes },
		moveLimit: iterations < 0 ? Number.POSITIVE_INFINITY : iterations + 1,
		limit: "loop",
		toInput: (node, isRepeated) =>
			node.kind === "task" ? parts : [...parts, textPart(decisionPrompt(node, isRepeated))],
	};
}

/** Runs the flow. A refusal, error or cancellation ends it like a turn. */
export async function runFlow({ flow, toInput, moveLimit, limit }: FlowRun, run: CommandRun): Promise<TurnOutcome> {
	const { agent } = run;
	let steps = 0;
	let moves = 0;
	let isRepeated = false;
	let current = flow.nodes.get(flow.begin);
	while (current !== undefined && current.kind !== "end") {
		if (current.kind === "begin") {
			current = flow.nodes.get(current.next);
			continue;
		}
		moves += 1;
		if (moves > moveLimit) return { status: "max-steps", limit, steps };
		const ran = await run.runWithin(toInput(current, isRepeated), agent);
		steps += ran.steps;
		if (ran.outcome.status === "max-steps") return { ...ran.outcome, steps };
		if (ran.outcome.status !== "finished" || ran.outcome.stoppedBy === "refusal") return ran.outcome;
		if (current.kind === "task") {
			current = flow.nodes.get(current.next);
			continue;
		}
		const choice = readChoice(lastText(agent.context), current.branches.keys());
		isRepeated = choice === null;
		if (choice !== null) current = flow.nodes.get(current.branches.get(choice) ?? "");
	}
	return { status: "finished" };
}
