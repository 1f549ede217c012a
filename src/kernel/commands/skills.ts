import { loadSkillText, type Skill, skillPrompt } from "../../core/definitions/skill.ts";
import type { Files } from "../../ports/files/port.ts";
import { runFlow, skillFlow } from "../turn/flow-run.ts";
import { finished, type SlashCommand } from "./command.ts";

export function createSkillCommands(skills: readonly Skill[], files: Files): readonly SlashCommand[] {
	return [
		...skills.map((skill) => createSkillCommand(skill, files)),
		...skills.flatMap(({ name, description, flow }): SlashCommand[] =>
			flow === null
				? []
				: [
						{
							name: `flow:${name}`,
							description,
							aliases: [],
							run: (run) => runFlow(skillFlow(flow, run.argument), run),
						},
					],
		),
	];
}

function createSkillCommand(skill: Skill, files: Files): SlashCommand {
	const { name, description, path } = skill;
	return {
		name: `skill:${name}`,
		description,
		aliases: [],
		async run({ argument, say, runAgent }) {
			const text = await loadSkillText(skill, files);
			if (text !== null) return await runAgent(skillPrompt(text, argument));
			await say(`The skill ${name} cannot be read: ${path}`);
			return finished;
		},
	};
}
