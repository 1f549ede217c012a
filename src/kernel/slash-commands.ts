// The slash commands of a session: prompts that the kernel answers itself. One row per command.
import { errorText } from "../base/errors.ts";
import { textPart } from "../events/content.ts";
import { type EventBody, statusChanged } from "../events/event.ts";
import { parseSlashCommand, type SlashCommand } from "../events/slash-command.ts";
import type { Files } from "../files/port.ts";
import type { PlanMode } from "./plan-mode.ts";
import type { EmitInTurn } from "./turn-dependencies.ts";

/** A command as clients list it. */
export interface SlashCommandInfo {
	readonly name: string;
	readonly description: string;
	readonly aliases: readonly string[];
}

export interface SlashCommandSettings {
	readonly plan: PlanMode;
	readonly files: Files;
}

interface Row extends SlashCommandInfo {
	run(command: SlashCommand): Promise<Reply>;
}

/** What a command answers: a text, and an event behind it when something changed. */
interface Reply {
	readonly text: string;
	readonly change?: EventBody;
}

export interface SlashCommands {
	readonly infos: readonly SlashCommandInfo[];
	/** Runs the command that a prompt is, and tells its answer; false when the prompt is none. */
	run(prompt: string, emit: EmitInTurn): Promise<boolean>;
}

export function createSlashCommands(settings: SlashCommandSettings): SlashCommands {
	const rows: readonly Row[] = [
		{
			name: "plan",
			description: "Switch plan mode, or see its plan: on, off, view, clear; without a word it toggles",
			aliases: [],
			run: ({ argument }) => runPlan(argument, settings),
		},
	];
	return {
		infos: rows.map(({ name, description, aliases }) => ({ name, description, aliases })),
		async run(prompt, emit) {
			const command = parseSlashCommand(prompt);
			if (command === null) return false;
			const row = rows.find(({ name, aliases }) => name === command.name || aliases.includes(command.name));
			const unknown = { text: `Unknown slash command "/${command.name}".` };
			const { text, change }: Reply = row === undefined ? unknown : await row.run(command);
			await emit({ type: "content.delta", part: textPart(text) });
			if (change !== undefined) await emit(change);
			return true;
		},
	};
}

async function runPlan(argument: string, { plan, files }: SlashCommandSettings): Promise<Reply> {
	const turn = async (enabled: boolean): Promise<Reply> => {
		await plan.set(enabled, true);
		const text = enabled ? `Plan mode is on. The plan goes to ${plan.file ?? "its file"}.` : "Plan mode is off.";
		return { text, change: statusChanged({ plan_mode: plan.isOn }) };
	};
	switch (argument.toLowerCase()) {
		case "":
			return await turn(!plan.isOn);
		case "on":
			return await turn(true);
		case "off":
			return await turn(false);
		case "view":
			return { text: (await plan.read())?.text ?? "There is no plan." };
		case "clear":
			return { text: await clearPlan(plan.file, files) };
		default:
			return { text: `/plan does not know "${argument}". It takes on, off, view, clear, or nothing to toggle.` };
	}
}

async function clearPlan(file: string | null, files: Files): Promise<string> {
	if (file === null) return "Plan mode is off: there is no plan to clear.";
	try {
		await files.remove(file);
		return "The plan was cleared.";
	} catch (thrown) {
		return `The plan could not be cleared: ${errorText(thrown)}`;
	}
}
