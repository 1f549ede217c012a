// Frozen: the JSON Schemas of the built-in tools as models are shown them, descriptions left out.
// When this goes red, a model is offered other arguments than before: change it only together with the tool, the
// protocol documents and the CHANGELOG.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTools } from "../../src/core/tools/built-in-tools.ts";
import { defaultToolPaths } from "../../src/core/tools/tool-paths.ts";
import { createToolPlace, type ToolPlace } from "../support/host/tool-environment.ts";
import { allMedia, noWeb, searchService } from "../support/sessions/session-doubles.ts";

const text = { type: "string" };
const filledText = { type: "string", minLength: 1 };
const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }], default: null });
const option = {
	type: "object",
	properties: { label: filledText, description: { type: "string", default: "" } },
	required: ["label"],
};
const todo = {
	type: "object",
	properties: { title: filledText, status: { type: "string", enum: ["pending", "in_progress", "done"] } },
	required: ["title", "status"],
};
const edit = {
	type: "object",
	properties: { old: text, new: text, replace_all: { type: "boolean", default: false } },
	required: ["old", "new"],
};

const schemas = {
	Agent: {
		type: "object",
		properties: {
			description: text,
			prompt: filledText,
			subagent_type: { type: "string", default: "coder" },
			model: nullable(text),
			resume: nullable(text),
			run_in_background: { type: "boolean", default: false },
			timeout: nullable({ type: "integer", minimum: 30, maximum: 3600 }),
		},
		required: ["description", "prompt"],
	},
	AskUserQuestion: {
		type: "object",
		properties: {
			questions: {
				type: "array",
				items: {
					type: "object",
					properties: {
						question: filledText,
						header: { type: "string", default: "" },
						options: { type: "array", items: option, minItems: 2, maxItems: 4 },
						multi_select: { type: "boolean", default: false },
					},
					required: ["question", "options"],
				},
				minItems: 1,
				maxItems: 4,
			},
		},
		required: ["questions"],
	},
	ExitPlanMode: {
		type: "object",
		properties: { options: nullable({ type: "array", items: option, maxItems: 3 }) },
	},
	EnterPlanMode: { type: "object", properties: {} },
	SetTodoList: {
		type: "object",
		properties: { todos: nullable({ type: "array", items: todo }) },
	},
	Shell: {
		type: "object",
		properties: {
			command: text,
			timeout: { type: "integer", minimum: 1, maximum: 86_400, default: 60 },
			run_in_background: { type: "boolean", default: false },
			description: { type: "string", default: "" },
		},
		required: ["command"],
	},
	TaskList: {
		type: "object",
		properties: {
			active_only: { type: "boolean", default: true },
			limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
		},
	},
	TaskOutput: {
		type: "object",
		properties: {
			task_id: text,
			block: { type: "boolean", default: false },
			timeout: { type: "integer", minimum: 0, maximum: 3600, default: 30 },
		},
		required: ["task_id"],
	},
	TaskStop: {
		type: "object",
		properties: { task_id: text, reason: { type: "string", default: "Stopped with TaskStop." } },
		required: ["task_id"],
	},
	ReadFile: {
		type: "object",
		properties: {
			path: text,
			line_offset: { type: "integer", minimum: -1000, not: { const: 0 }, default: 1 },
			n_lines: { type: "integer", minimum: 1, default: 1000 },
		},
		required: ["path"],
	},
	ReadMediaFile: { type: "object", properties: { path: text }, required: ["path"] },
	SearchWeb: {
		type: "object",
		properties: {
			query: text,
			limit: { type: "integer", minimum: 1, maximum: 20, default: 5 },
			include_content: { type: "boolean", default: false },
		},
		required: ["query"],
	},
	Glob: {
		type: "object",
		properties: {
			pattern: text,
			directory: nullable(text),
			include_dirs: { type: "boolean", default: true },
		},
		required: ["pattern"],
	},
	Grep: {
		type: "object",
		properties: {
			pattern: text,
			path: { type: "string", default: "." },
			glob: nullable(text),
			output_mode: { type: "string", default: "files_with_matches" },
			"-B": nullable({ type: "integer" }),
			"-A": nullable({ type: "integer" }),
			"-C": nullable({ type: "integer" }),
			"-n": { type: "boolean", default: true },
			"-i": { type: "boolean", default: false },
			type: nullable(text),
			head_limit: { anyOf: [{ type: "integer", minimum: 0 }, { type: "null" }], default: 250 },
			offset: { type: "integer", minimum: 0, default: 0 },
			multiline: { type: "boolean", default: false },
			include_ignored: { type: "boolean", default: false },
		},
		required: ["pattern"],
	},
	WriteFile: {
		type: "object",
		properties: {
			path: text,
			content: text,
			mode: { enum: ["overwrite", "append"], type: "string", default: "overwrite" },
		},
		required: ["path", "content"],
	},
	StrReplaceFile: {
		type: "object",
		properties: { path: text, edit: { anyOf: [edit, { type: "array", items: edit }] } },
		required: ["path", "edit"],
	},
	FetchURL: { type: "object", properties: { url: text }, required: ["url"] },
	Think: { type: "object", properties: { thought: text }, required: ["thought"] },
};

let place: ToolPlace;
beforeAll(async () => {
	place = await createToolPlace({ media: allMedia, web: { ...noWeb, searchService } });
});
afterAll(() => place.remove());

function withoutDescriptions(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutDescriptions);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([key, inner]) => !(key === "description" && typeof inner === "string"))
			.map(([key, inner]) => [key, withoutDescriptions(inner)]),
	);
}

it("pins the schemas of the built-in tools", async () => {
	const tools = createTools([...defaultToolPaths, "kimi_cli.tools.think:Think"], place.environment);
	const shown = await Promise.all(tools.map(async (tool) => [tool.name, withoutDescriptions(await tool.parameters())]));
	expect(Object.fromEntries(shown)).toEqual(schemas);
});

it("pins names and order of the default tools", () => {
	expect(createTools(defaultToolPaths, place.environment).map(({ name }) => name)).toEqual([
		"Agent",
		"AskUserQuestion",
		"SetTodoList",
		"Shell",
		"TaskList",
		"TaskOutput",
		"TaskStop",
		"ReadFile",
		"ReadMediaFile",
		"Glob",
		"Grep",
		"WriteFile",
		"StrReplaceFile",
		"SearchWeb",
		"FetchURL",
		"ExitPlanMode",
		"EnterPlanMode",
	]);
});
