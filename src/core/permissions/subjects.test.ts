// What each tool that needs an approval names as the subjects of a call.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createToolPlace, prepareCall, type ToolPlace } from "../../../test/support/host/tool-environment.ts";
import { nobodyToAsk, noTasks } from "../../../test/support/sessions/session-doubles.ts";
import type { Subject } from "../../api/values/subject.ts";
import type { TaskView } from "../../api/values/task-status.ts";
import { silentLog } from "../../base/log.ts";
import { createServerTool } from "../mcp/server-tool.ts";
import { createStringReplaceFile } from "../tools/files/string-replace-file.ts";
import { createWriteFile } from "../tools/files/write-file.ts";
import { createPluginTool } from "../tools/plugin-tool.ts";
import { createShell } from "../tools/shell.ts";
import { createTaskStop } from "../tools/tasks/task-stop.ts";
import type { Tool, ToolEnvironment } from "../tools/tool.ts";

let place: ToolPlace;
beforeAll(async () => {
	place = await createToolPlace();
	await mkdir(place.at("plugin"));
	await mkdir(place.at("elsewhere"));
	await writeFile(place.at("work", "a.txt"), "alpha\n");
	await writeFile(place.at("elsewhere", "b.txt"), "beta\n");
	await writeFile(place.at("work", ".env"), "KEY=secret\n");
	await symlink(place.at("elsewhere", "b.txt"), place.at("work", "link.txt"));
});
afterAll(() => place.remove());

const task: TaskView = {
	id: "bash-00000001",
	kind: "bash",
	status: "running",
	description: "the server",
	timeout: 3600,
	command: "serve",
	agent: null,
	exitCode: null,
	interrupted: false,
	timedOut: false,
	reason: null,
	outputPath: null,
};

const built = (create: (environment: ToolEnvironment) => Tool) => async (): Promise<Tool> =>
	create({ ...place.environment, tasks: { ...noTasks, find: async () => task } });

async function createPlugin(): Promise<Tool> {
	const declaration = { name: "say", description: "", command: ["true"], parameters: {} } as const;
	const made = await createPluginTool(place.at("plugin"), declaration, place.environment, async () => ({}));
	if (!made.ok) throw new Error(made.reason);
	return made.tool;
}

async function createServer(): Promise<Tool> {
	const connection = { name: "srv", call: async () => ({ kind: "aborted" }) as const };
	const listed = { name: "note", description: "", parameters: { type: "object" }, tags: [] };
	return createServerTool(listed, { connection, callTimeout: 1000, questions: nobodyToAsk, log: silentLog });
}

const edit = { old: "alpha", new: "gamma" };

it.each<[string, () => Promise<Tool>, object, () => Subject]>([
	[
		"Shell",
		built(createShell),
		{ command: "make all" },
		() => ({ kind: "command", text: "make all", cwd: place.at("work") }),
	],
	[
		"Shell in the background",
		built(createShell),
		{ command: "serve", run_in_background: true, description: "the server" },
		() => ({ kind: "command", text: "serve", cwd: place.at("work") }),
	],
	[
		"WriteFile",
		built(createWriteFile),
		{ path: "new.txt", content: "n" },
		() => ({ kind: "file", operation: "write", path: place.at("work", "new.txt") }),
	],
	[
		"WriteFile through a link",
		built(createWriteFile),
		{ path: "LINK", content: "n" },
		() => ({
			kind: "file",
			operation: "write",
			path: place.at("elsewhere", "b.txt"),
			named: place.at("work", "link.txt"),
		}),
	],
	[
		"StrReplaceFile",
		built(createStringReplaceFile),
		{ path: "a.txt", edit },
		() => ({ kind: "file", operation: "edit", path: place.at("work", "a.txt") }),
	],
	[
		"StrReplaceFile on a secret that does not contain the text",
		built(createStringReplaceFile),
		{ path: ".env", edit },
		() => ({ kind: "file", operation: "edit", path: place.at("work", ".env") }),
	],
	[
		"TaskStop",
		built(createTaskStop),
		{ task_id: task.id },
		() => ({ kind: "task", operation: "stop", id: "bash-00000001" }),
	],
	[
		"a tool of a plugin",
		createPlugin,
		{ text: "hi" },
		() => ({ kind: "plugin-tool", name: "say", directory: place.at("plugin"), arguments: { text: "hi" } }),
	],
	[
		"a tool of an MCP server",
		createServer,
		{ text: "hi" },
		() => ({ kind: "mcp", server: "srv", tool: "note", arguments: { text: "hi" } }),
	],
])("%s names what it would act on", async (_name, create, value, subject) => {
	const given = Object.fromEntries(
		Object.entries(value).map(([key, text]) => [key, text === "LINK" ? place.at("work", "link.txt") : text]),
	);
	expect((await prepareCall(await create(), given)).approval?.subjects).toEqual([subject()]);
});
