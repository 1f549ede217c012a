// The prompt of an agent file: its template with the arguments it is given and what is known of time and place.
import type { PromptTemplate } from "./prompt-template.ts";
import { renderTemplate } from "./prompt-template.ts";
import type { PromptVariables, RenderPrompt } from "./prompt-variables.ts";
import type { TemplateValue } from "./template-expression.ts";

/** The arguments are further variables; they win over those of the program. What is made throws TemplateError. */
export function createPrompt(template: PromptTemplate, given: Readonly<Record<string, TemplateValue>>): RenderPrompt {
	return (variables) => renderTemplate(template, new Map([...standardValues(variables), ...Object.entries(given)]));
}

function standardValues(variables: PromptVariables): readonly (readonly [string, TemplateValue])[] {
	return [
		["KIMI_NOW", variables.now],
		["KIMI_WORK_DIR", variables.workDir],
		["KIMI_WORK_DIR_LS", variables.workDirListing],
		["KIMI_AGENTS_MD", variables.agentsMd],
		["KIMI_SKILLS", variables.skills],
		["KIMI_ADDITIONAL_DIRS_INFO", variables.additionalDirsInfo],
		["KIMI_OS", variables.os],
		["KIMI_SHELL", variables.shell],
		["ROLE_ADDITIONAL", ""],
	];
}
