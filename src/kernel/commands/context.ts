import { statusChanged } from "../../api/values/event.ts";
import { modelNotSet } from "../../core/agent/turn.ts";
import type { Agent } from "../turn/turn-dependencies.ts";
import { type CommandRun, finished, type SlashCommand } from "./command.ts";

export const compactCommand: SlashCommand = {
	name: "compact",
	description:
		"Summarize the conversation so far to free context; text after the command says what to preserve above all",
	aliases: [],
	async run(run) {
		const { agent, argument } = run;
		if (agent.context.checkpointCount === 0) {
			await run.say("The context is empty.");
			return finished;
		}
		const outcome = await run.compact(argument === "" ? "manual" : "manual-with-prompt", argument);
		if (outcome === null) return { status: "failed", error: modelNotSet(agent.unsetModelAlias) };
		if (outcome.kind === "failed") return { status: "failed", error: outcome.error };
		if (outcome.kind === "cancelled") return { status: "cancelled" };
		return await reportCapacity("The context has been compacted.", run);
	},
};

export const clearCommand: SlashCommand = {
	name: "clear",
	description: "Forget the conversation; todos, plan and approvals stay",
	aliases: ["reset"],
	async run(run) {
		await run.agent.context.replace([]);
		run.agent.reminders.rearm();
		return await reportCapacity("The context has been cleared.", run);
	},
};

async function reportCapacity(text: string, { agent, say, deliver }: CommandRun) {
	await say(text);
	await deliver(contextStatus(agent));
	return finished;
}

function contextStatus({ context, model }: Agent) {
	const size = model?.maxContextSize ?? 0;
	return statusChanged({
		context_usage: size === 0 ? 0 : context.tokenCount / size,
		context_tokens: context.tokenCount,
		max_context_tokens: size,
	});
}
