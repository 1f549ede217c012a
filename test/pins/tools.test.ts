// Frozen: the JSON Schemas of the built-in tools as models are shown them, descriptions left out.
// When this goes red, a model is offered other arguments than before: change it only together with the tool, the
// protocol documents and the CHANGELOG.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTools } from "../../src/tools/built-in-tools.ts";
import { defaultToolPaths } from "../../src/tools/tool-paths.ts";
import { allMedia, noWeb, searchService } from "../support/session-doubles.ts";
import { createToolPlace, type ToolPlace } from "../support/tool-environment.ts";

const nullableText = { anyOf: [{ type: "string" }, { type: "null" }], default: null };

const schemas = {
	Agent: {
		type: "object",
		properties: {
			description: { type: "string" },
			prompt: { type: "string", minLength: 1 },
			subagent_type: { type: "string", default: "coder" },
			model: nullableText,
			resume: nullableText,
			run_in_background: { type: "boolean", default: false },
			timeout: { anyOf: [{ type: "integer", minimum: 30, maximum: 3600 }, { type: "null" }], default: null },
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
						question: { type: "string", minLength: 1 },
						header: { type: "string", default: "" },
						options: {
							type: "array",
							items: {
								type: "object",
								properties: { label: { type: "string", minLength: 1 }, description: { type: "string", default: "" } },
								required: ["label"],
							},
							minItems: 2,
							maxItems: 4,
						},
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
		properties: {
			options: {
				anyOf: [
					{
						type: "array",
						items: {
							type: "object",
							properties: { label: { type: "string", minLength: 1 }, description: { type: "string", default: "" } },
							required: ["label"],
						},
						maxItems: 3,
					},
					{ type: "null" },
				],
				default: null,
			},
		},
	},
	EnterPlanMode: { type: "object", properties: {} },
	SetTodoList: {
		type: "object",
		properties: {
			todos: {
				anyOf: [
					{
						type: "array",
						items: {
							type: "object",
							properties: {
								title: { type: "string", minLength: 1 },
								status: { enum: ["pending", "in_progress", "done"], type: "string" },
							},
							required: ["title", "status"],
						},
					},
					{ type: "null" },
				],
				default: null,
			},
		},
	},
	Shell: {
		type: "object",
		properties: {
			command: { type: "string" },
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
			task_id: { type: "string" },
			block: { type: "boolean", default: false },
			timeout: { type: "integer", minimum: 0, maximum: 3600, default: 30 },
		},
		required: ["task_id"],
	},
	TaskStop: {
		type: "object",
		properties: { task_id: { type: "string" }, reason: { type: "string", default: "Stopped with TaskStop." } },
		required: ["task_id"],
	},
	ReadFile: {
		type: "object",
		properties: {
			path: { type: "string" },
			line_offset: { type: "integer", minimum: -1000, not: { const: 0 }, default: 1 },
			n_lines: { type: "integer", minimum: 1, default: 1000 },
		},
		required: ["path"],
	},
	ReadMediaFile: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
	SearchWeb: {
		type: "object",
		properties: {
			query: { type: "string" },
			limit: { type: "integer", minimum: 1, maximum: 20, default: 5 },
			include_content: { type: "boolean", default: false },
		},
		required: ["query"],
	},
	Glob: {
		type: "object",
		properties: {
			pattern: { type: "string" },
			directory: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
			include_dirs: { type: "boolean", default: true },
		},
		required: ["pattern"],
	},
	Grep: {
		type: "object",
		properties: {
			pattern: { type: "string" },
			path: { type: "string", default: "." },
			glob: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
			output_mode: { type: "string", default: "files_with_matches" },
			"-B": { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
			"-A": { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
			"-C": { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
			"-n": { type: "boolean", default: true },
			"-i": { type: "boolean", default: false },
			type: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
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
			path: { type: "string" },
			content: { type: "string" },
			mode: { enum: ["overwrite", "append"], type: "string", default: "overwrite" },
		},
		required: ["path", "content"],
	},
	StrReplaceFile: {
		type: "object",
		properties: {
			path: { type: "string" },
			edit: {
				anyOf: [
					{
						type: "object",
						properties: {
							old: { type: "string" },
							"new": { type: "string" },
							replace_all: { type: "boolean", default: false },
						},
						required: ["old", "new"],
					},
					{
						type: "array",
						items: {
							type: "object",
							properties: {
								old: { type: "string" },
								"new": { type: "string" },
								replace_all: { type: "boolean", default: false },
							},
							required: ["old", "new"],
						},
					},
				],
			},
		},
		required: ["path", "edit"],
	},
	FetchURL: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
	Think: { type: "object", properties: { thought: { type: "string" } }, required: ["thought"] },
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
