import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { type AgentDeclarations, type DeclaredSubagent, type NamedFile, readAgentFile } from "./agent-file.ts";
import { AgentFileError, type AgentFileProblem } from "./agent-file-error.ts";
import { type AgentType, agentTypes } from "./agent-types.ts";
import type { PromptVariables, RenderPrompt } from "./prompt-variables.ts";
import { loadPromptTemplate, type PromptTemplate, renderTemplate } from "./templates/prompt-template.ts";
import { isTruthy, type TemplateValue } from "./templates/template-expression.ts";
import { TemplateError } from "./templates/template-nodes.ts";

export interface AgentDefinition {
	readonly name: string;
	/** The tools' spec paths, in the order shown to the model. */
	readonly toolPaths: readonly string[];
	readonly prompt: RenderPrompt | null;
	readonly role: string;
	readonly types: readonly AgentType[];
}

export interface KnownTools {
	readonly defaults: readonly string[];
	/** `absent` tools have known names but are not part of this program. */
	availability(toolPath: string): "there" | "absent" | "unknown";
	isForSubagents(toolPath: string): boolean;
}

export interface AgentFileSettings {
	readonly files: Files;
	readonly tools: KnownTools;
	/** Used to render the prompts once, so that their errors show at startup. */
	readonly variables: PromptVariables;
	readonly log: Log;
	/** Called with a sentence for each declaration without effect. */
	readonly warn: (sentence: string) => void;
}

export async function loadAgentDefinition(file: string, settings: AgentFileSettings): Promise<AgentDefinition> {
	const problems: AgentFileProblem[] = [];
	const declared = await readAgentFile(file, settings.files, problems);
	const own = declared === null ? null : await resolveAgent(file, declared, settings, problems);
	const types = declared === null ? [] : await loadTypes(declared.subagents, settings, problems);
	if (own === null || problems.length > 0) throw new AgentFileError(problems);
	return { ...own, types };
}

type ResolvedAgent = Omit<AgentDefinition, "types">;

async function resolveAgent(
	file: string,
	declared: AgentDeclarations,
	settings: AgentFileSettings,
	problems: AgentFileProblem[],
): Promise<ResolvedAgent | null> {
	const { name, prompt, tools } = declared;
	const required = { name, system_prompt_path: prompt, tools };
	for (const [key, value] of Object.entries(required)) {
		if (value === null) problems.push({ file, key: `agent.${key}`, reason: "is required" });
	}
	const toolPaths = resolveTools(file, declared, settings, problems);
	const template =
		prompt === null || prompt === "default" ? null : await loadPrompt(prompt, declared, settings, problems);
	if (name === null || prompt === null || toolPaths === null) return null;
	return { name, toolPaths, prompt: template, role: prompt === "default" ? toRole(declared) : "" };
}

/** Null if the file names no tools. */
function resolveTools(
	file: string,
	{ tools, allowedTools, excludedTools }: AgentDeclarations,
	{ tools: known, log, warn }: AgentFileSettings,
	problems: AgentFileProblem[],
): readonly string[] | null {
	const named = allowedTools ?? (tools === "default" ? known.defaults : tools);
	if (named === null) return null;
	const wanted = [...new Set(named)].filter((toolPath) => !excludedTools.includes(toolPath));
	const unknown = wanted.filter((toolPath) => known.availability(toolPath) === "unknown");
	if (unknown.length > 0) {
		const key = allowedTools === null ? "agent.tools" : "agent.allowed_tools";
		const list = unknown.map((toolPath) => `'${toolPath}'`).join(", ");
		problems.push({ file, key, reason: `Invalid tools: [${list}]` });
	}
	for (const toolPath of excludedTools.filter((each) => known.availability(each) === "unknown")) {
		warn(`${file}: agent.exclude_tools: ${excludesNothing(toolPath, known.defaults)}`);
	}
	const absent = wanted.filter((toolPath) => known.availability(toolPath) === "absent");
	if (absent.length > 0) log.info("Tools of the agent file are not available and left out.", { file, tools: absent });
	return wanted.filter((toolPath) => known.availability(toolPath) === "there");
}

/** Only a warning, because such files work with other programs. */
function excludesNothing(toolPath: string, defaults: readonly string[]): string {
	const nameOf = (each: string) => each.slice(each.lastIndexOf(":") + 1).toLowerCase();
	const meant = defaults.find((each) => nameOf(each) === nameOf(toolPath));
	const advice = meant === undefined ? "docs/guides/agents.md lists the paths" : `did you mean '${meant}'?`;
	return `'${toolPath}' is not the path of a tool, so it removes nothing; ${advice}`;
}

async function loadPrompt(
	{ path, declaredIn, key }: NamedFile,
	{ promptArguments }: AgentDeclarations,
	{ files, variables }: AgentFileSettings,
	problems: AgentFileProblem[],
): Promise<RenderPrompt | null> {
	try {
		const prompt = createPrompt(await loadPromptTemplate(path, files), promptArguments);
		prompt(variables);
		return prompt;
	} catch (thrown) {
		if (!(thrown instanceof TemplateError)) throw thrown;
		const { file, line, reason } = thrown;
		problems.push(
			line === 0 ? { file: declaredIn, key, reason: `${reason} (${file})` } : { file, key: `line ${line}`, reason },
		);
		return null;
	}
}

/** The default prompt takes only this argument, which is appended. */
function toRole({ promptArguments: { ROLE_ADDITIONAL: role = "" } }: AgentDeclarations): string {
	return isTruthy(role) && typeof role !== "object" ? String(role).trim() : "";
}

async function loadTypes(
	declared: AgentDeclarations["subagents"],
	settings: AgentFileSettings,
	problems: AgentFileProblem[],
): Promise<readonly AgentType[]> {
	if (declared === "default") return agentTypes;
	const types: AgentType[] = [];
	for (const [name, subagent] of Object.entries(declared)) {
		const type = await loadType(name, subagent, settings, problems);
		if (type !== null) types.push(type);
	}
	return types;
}

/** Ignores the subagents declared by a subagent's file, because it could not call them. */
async function loadType(
	name: string,
	{ file, description }: DeclaredSubagent,
	settings: AgentFileSettings,
	problems: AgentFileProblem[],
): Promise<AgentType | null> {
	const { path, declaredIn, key } = file;
	const status = await settings.files.status(path).catch(() => null);
	if (status?.kind !== "file") {
		const reason = status === null ? "there is no such file" : "is not a file";
		problems.push({ file: declaredIn, key, reason: `${reason} (${path})` });
		return null;
	}
	const declared = await readAgentFile(path, settings.files, problems);
	const agent = declared === null ? null : await resolveAgent(path, declared, settings, problems);
	if (declared === null || agent === null) return null;
	const { whenToUse, model } = declared;
	return {
		name,
		whenToUse: whenToUse === null ? description : `${description} ${whenToUse}`,
		toolPaths: agent.toolPaths.filter((toolPath) => settings.tools.isForSubagents(toolPath)),
		model,
		prompt: agent.prompt,
		role: agent.role,
		startsWithGit: false,
	};
}

/** Arguments become variables that override the program's. The returned function throws TemplateError. */
function createPrompt(template: PromptTemplate, given: Readonly<Record<string, TemplateValue>>): RenderPrompt {
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
