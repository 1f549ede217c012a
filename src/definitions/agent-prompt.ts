// The prompt of an agent file: its template, rendered with the file's arguments and the prompt variables.
import type { PromptTemplate } from "./prompt-template.ts";
import { renderTemplate } from "./prompt-template.ts";
import type { PromptVariables, RenderPrompt } from "./prompt-variables.ts";
import type { TemplateValue } from "./template-expression.ts";

/** The arguments are further variables; they override those of the program. The result throws TemplateError. */
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
