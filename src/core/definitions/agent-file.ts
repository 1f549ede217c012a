import path from "node:path";
import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import { isNestedWithin, isRecord } from "../../base/json.ts";
import type { Files } from "../../ports/files/port.ts";
import type { AgentFileProblem } from "./agent-file-error.ts";
import type { TemplateValue } from "./templates/template-expression.ts";
import { parseYaml } from "./yaml-text.ts";

export interface NamedFile {
	readonly path: string;
	readonly declaredIn: string;
	readonly key: string;
}

export interface DeclaredSubagent {
	readonly file: NamedFile;
	readonly description: string;
}

/** The merged declarations of a file and the ones it extends. Null for missing keys. */
export interface AgentDeclarations {
	readonly name: string | null;
	readonly prompt: "default" | NamedFile | null;
	readonly promptArguments: Readonly<Record<string, TemplateValue>>;
	readonly model: string | null;
	readonly whenToUse: string | null;
	readonly tools: "default" | readonly string[] | null;
	readonly allowedTools: readonly string[] | null;
	readonly excludedTools: readonly string[];
	readonly subagents: "default" | Readonly<Record<string, DeclaredSubagent>>;
}

const nothing: AgentDeclarations = {
	name: null,
	prompt: null,
	promptArguments: {},
	model: null,
	whenToUse: null,
	tools: null,
	allowedTools: null,
	excludedTools: [],
	subagents: {},
};

/** What `extend: default` inherits. */
const defaultAgent: AgentDeclarations = {
	...nothing,
	name: "default",
	prompt: "default",
	tools: "default",
	subagents: "default",
};

const text = v.nullish(v.pipe(v.string("must be a string"), v.trim(), v.nonEmpty("must not be empty")));
const toolList = v.optional(v.nullable(v.array(v.string("must be a string"), "must be a list of tool paths")));
const templateValue: v.GenericSchema<TemplateValue> = v.union(
	[
		v.string(),
		v.number(),
		v.boolean(),
		v.null(),
		v.array(v.lazy(() => templateValue)),
		v.record(
			v.string(),
			v.lazy(() => templateValue),
		),
	],
	"must be a string, a number, a boolean, a list or a map",
);
const requiredText = v.pipe(v.string("must be a string"), v.trim(), v.nonEmpty("must not be empty"));

const agentSchema = v.object(
	{
		extend: text,
		name: text,
		system_prompt_path: text,
		system_prompt_args: v.nullish(v.record(v.string(), templateValue, "must be a map")),
		model: text,
		when_to_use: text,
		tools: toolList,
		allowed_tools: toolList,
		exclude_tools: toolList,
		subagents: v.optional(
			v.nullable(
				v.record(
					v.string(),
					v.object({ path: requiredText, description: requiredText }, (issue) =>
						issue.expected === "Object" ? "must be a map with path and description" : "is required",
					),
					"must be a map",
				),
			),
		),
	},
	"must be a map",
);

/** Maximum agent file size in bytes. */
const sizeLimit = 256 * 1024;

/** Maximum nesting of lists and maps; far more than an agent file needs. */
const depthLimit = 100;

type AgentTable = v.InferOutput<typeof agentSchema>;

/** Reads an agent file (absolute path) and all that it extends. Adds to `problems`; null if nothing usable remains. */
export async function readAgentFile(
	file: string,
	files: Files,
	problems: AgentFileProblem[],
): Promise<AgentDeclarations | null> {
	return await readLayer({ path: file, declaredIn: file, key: "" }, [], files, problems);
}

async function readLayer(
	file: NamedFile,
	trail: readonly string[],
	files: Files,
	problems: AgentFileProblem[],
): Promise<AgentDeclarations | null> {
	const source = await readSource(file, files, problems);
	if (source === null) return null;
	const table = await parseAgentTable(source, file.path, problems);
	if (table === null) return null;
	const { extend } = table;
	if (extend === null || extend === undefined) return overlay(nothing, table, file.path);
	if (extend === "default") return overlay(defaultAgent, table, file.path);
	const base = { path: resolveFrom(file.path, extend), declaredIn: file.path, key: "agent.extend" };
	const seen = [...trail, await files.resolve(file.path)];
	if (seen.includes(await files.resolve(base.path))) {
		const circle = [...seen, base.path].map((link) => path.basename(link)).join(" -> ");
		problems.push({ file: file.path, key: base.key, reason: `extends itself: ${circle}` });
		return null;
	}
	const inherited = await readLayer(base, seen, files, problems);
	return inherited === null ? null : overlay(inherited, table, file.path);
}

async function readSource(
	{ path: file, declaredIn, key }: NamedFile,
	files: Files,
	problems: AgentFileProblem[],
): Promise<string | null> {
	const refuse = (reason: string): null => {
		const named = key === "" ? reason : `${reason} (${file})`;
		problems.push({ file: declaredIn, key, reason: named });
		return null;
	};
	try {
		const status = await files.status(file);
		if (status === null) return refuse("there is no such file");
		if (status.kind !== "file") return refuse("is not a file");
		const bytes = (await files.readRange(file, 0, sizeLimit + 1)) ?? Buffer.alloc(0);
		return bytes.length > sizeLimit ? refuse(`has more than ${sizeLimit} bytes`) : bytes.toString();
	} catch (thrown) {
		return refuse(`cannot be read: ${errorText(thrown)}`);
	}
}

async function parseAgentTable(source: string, file: string, problems: AgentFileProblem[]): Promise<AgentTable | null> {
	const refuse = (key: string, reason: string): null => {
		problems.push({ file, key, reason });
		return null;
	};
	const document = await parseYaml(source, "typed");
	if ("reason" in document) return refuse("", document.reason);
	const { content } = document;
	if (!isNestedWithin(content, depthLimit)) return refuse("", "its values nest too deeply, or contain themselves");
	if (!isRecord(content)) return refuse("agent", "is required");
	const version = content["version"] ?? 1;
	if (version !== 1 && version !== "1") {
		return refuse("version", `${JSON.stringify(version)} is not supported, only 1 is`);
	}
	if (content["agent"] === undefined || content["agent"] === null) return refuse("agent", "is required");
	const checked = v.safeParse(agentSchema, content["agent"]);
	if (checked.success) return checked.output;
	for (const issue of checked.issues)
		refuse(v.getDotPath(issue) ? `agent.${v.getDotPath(issue)}` : "agent", issue.message);
	return null;
}

/** Missing keys inherit, present ones replace; a null list is empty; prompt arguments are merged. */
function overlay(base: AgentDeclarations, table: AgentTable, file: string): AgentDeclarations {
	const { system_prompt_path: prompt, subagents } = table;
	const list = <T>(value: readonly string[] | null | undefined, inherited: T): readonly string[] | T =>
		value === undefined ? inherited : (value ?? []);
	return {
		name: table.name ?? base.name,
		prompt: prompt
			? { path: resolveFrom(file, prompt), declaredIn: file, key: "agent.system_prompt_path" }
			: base.prompt,
		promptArguments: { ...base.promptArguments, ...table.system_prompt_args },
		model: table.model ?? base.model,
		whenToUse: table.when_to_use ?? base.whenToUse,
		tools: list(table.tools, base.tools),
		allowedTools: list(table.allowed_tools, base.allowedTools),
		excludedTools: list(table.exclude_tools, base.excludedTools),
		subagents: subagents === undefined ? base.subagents : toSubagents(subagents ?? {}, file),
	};
}

function toSubagents(declared: NonNullable<AgentTable["subagents"]>, file: string): Record<string, DeclaredSubagent> {
	return Object.fromEntries(
		Object.entries(declared).map(([name, { path: target, description }]) => [
			name,
			{
				file: { path: resolveFrom(file, target), declaredIn: file, key: `agent.subagents.${name}.path` },
				description,
			},
		]),
	);
}

const resolveFrom = (file: string, target: string) => path.resolve(path.dirname(file), target);
