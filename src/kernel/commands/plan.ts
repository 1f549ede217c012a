import { statusChanged } from "../../api/values/event.ts";
import { errorText } from "../../base/errors.ts";
import type { PlanMode } from "../plan/plan-mode.ts";
import { type CommandRun, finished, type SlashCommand } from "./command.ts";

export function createPlanCommand(plan: PlanMode): SlashCommand {
	const turn = async (enabled: boolean, { say, deliver }: CommandRun): Promise<void> => {
		if (!plan.allows(enabled)) {
			await say("Plan mode is not supported: the agent has no tools for it.");
			return;
		}
		await plan.set(enabled, true);
		await say(enabled ? `Plan mode is on. The plan goes to ${plan.file ?? "its file"}.` : "Plan mode is off.");
		await deliver(statusChanged({ plan_mode: plan.isOn }));
	};
	const carryOut = async (run: CommandRun): Promise<void> => {
		switch (run.argument.toLowerCase()) {
			case "":
				return await turn(!plan.isOn, run);
			case "on":
				return await turn(true, run);
			case "off":
				return await turn(false, run);
			case "view":
				return await run.say(await planText(plan));
			case "clear":
				return await run.say(await clearPlan(plan));
			default:
				return await run.say(
					`/plan does not know "${run.argument}". It takes on, off, view, clear, or nothing to toggle.`,
				);
		}
	};
	return {
		name: "plan",
		description: "Switch plan mode, or see its plan: on, off, view, clear; without a word it toggles",
		aliases: [],
		async run(run) {
			await carryOut(run);
			return finished;
		},
	};
}

async function planText(plan: PlanMode): Promise<string> {
	try {
		return (await plan.read())?.text ?? "There is no plan.";
	} catch (thrown) {
		return `The plan cannot be read: ${errorText(thrown)}`;
	}
}

async function clearPlan(plan: PlanMode): Promise<string> {
	if (plan.file === null) return "Plan mode is off: there is no plan to clear.";
	try {
		await plan.clear();
		return "The plan was cleared.";
	} catch (thrown) {
		return `The plan could not be cleared: ${errorText(thrown)}`;
	}
}
