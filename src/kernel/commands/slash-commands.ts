import { parseSlashCommand } from "../../api/values/slash-command.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Skill } from "../../core/definitions/skill.ts";
import type { ApprovalMode } from "../interactions/approval-mode.ts";
import type { PlanMode } from "../plan/plan-mode.ts";
import { createApprovalCommands } from "./approval.ts";
import { answering, type SlashCommand } from "./command.ts";
import { clearCommand, compactCommand } from "./context.ts";
import { createFileCommands, type FileCommandSettings } from "./files.ts";
import { createInitCommand } from "./init.ts";
import { createPlanCommand } from "./plan.ts";
import { createRewindCommand, type RewindCommandSettings } from "./rewind.ts";
import { createSideQuestionCommand } from "./side-question.ts";
import { createSkillCommands } from "./skills.ts";

export interface SlashCommandSettings extends FileCommandSettings, RewindCommandSettings {
	readonly plan: PlanMode;
	readonly mode: ApprovalMode;
	readonly skills: readonly Skill[];
	/** Take the place of the kernel's commands of the same name. */
	readonly commands: readonly SlashCommand[];
	readonly identifiers: Identifiers;
	readonly passesUnknown: boolean;
}

export interface SlashCommands {
	readonly listed: readonly SlashCommand[];
	/** Returns the named command and the text after its name, or null when the prompt is not a command. */
	find(prompt: string): { readonly command: SlashCommand; readonly argument: string } | null;
}

export function createSlashCommands(settings: SlashCommandSettings): SlashCommands {
	const { stored, files, plan, mode, skills, commands, identifiers, passesUnknown } = settings;
	const all: readonly SlashCommand[] = [
		...commands,
		createInitCommand(stored.workDir, files),
		compactCommand,
		clearCommand,
		...createApprovalCommands(mode),
		createPlanCommand(plan),
		...createFileCommands(settings),
		createRewindCommand(settings),
		...createSkillCommands(skills, files),
		createSideQuestionCommand(identifiers),
	];
	return {
		listed: all.filter(({ isUnlisted }) => isUnlisted !== true),
		find(prompt) {
			const parsed = parseSlashCommand(prompt);
			if (parsed === null) return null;
			const { name, argument } = parsed;
			const command = all.find((one) => one.name === name || one.aliases.includes(name));
			if (command === undefined && passesUnknown) return null;
			return { command: command ?? unknownCommand(name), argument };
		},
	};
}

function unknownCommand(name: string): SlashCommand {
	return { name, description: "", aliases: [], run: answering(async () => `Unknown slash command "/${name}".`) };
}
