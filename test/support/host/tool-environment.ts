// An environment for tools over a temporary directory: real files and children, a todo list in memory.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Todo, ToolReturn } from "../../../src/api/values/content.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { findRipgrep } from "../../../src/core/tools/search/ripgrep.ts";
import type { ApprovalNeed, Refusal, Tool, ToolEnvironment } from "../../../src/core/tools/tool.ts";
import { createDiskFiles } from "../../../src/ports/files/disk-files.ts";
import { createSecretPaths } from "../../../src/ports/files/secret-paths.ts";
import { createProcesses } from "../../../src/ports/processes/children.ts";
import { noAgents, nobodyToAsk, noMail, noMedia, noPlanMode, noTasks, noWeb } from "../sessions/session-doubles.ts";

export interface ToolPlace {
	/** The directory of everything: `work`, `outside`, `home` and `output` lie in it. */
	readonly root: string;
	readonly environment: ToolEnvironment;
	/** The path of a file below the root. */
	at(...names: readonly string[]): string;
	remove(): Promise<void>;
}

export async function createToolPlace(overrides: Partial<ToolEnvironment> = {}): Promise<ToolPlace> {
	const root = await realpath(await mkdtemp(path.join(tmpdir(), "tools-")));
	const allFiles = createDiskFiles();
	const secrets = createSecretPaths({
		files: allFiles,
		shareDirs: [path.join(root, "share"), path.join(root, "home", ".kimi")],
		ownFiles: [path.join(root, "settings.toml")],
		pluginFiles: async () => [path.join(root, "share", "plugins", "demo", "settings.json")],
	});
	const files = allFiles.admitting(secrets.admit);
	for (const name of ["work", "outside", "home"]) await files.makeDirectory(path.join(root, name));
	let todos: readonly Todo[] = [];
	const environment: ToolEnvironment = {
		workDir: path.join(root, "work"),
		additionalDirs: () => [],
		skillDirs: [],
		environment: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: path.join(root, "home") },
		home: path.join(root, "home"),
		outputDir: path.join(root, "output"),
		files,
		allFiles,
		editor: null,
		secrets,
		processes: createProcesses({
			drain: 50,
			openSink: async (file) => {
				await files.makeDirectory(path.dirname(file));
				return files.openAppend(file);
			},
		}),
		sandbox: null,
		web: noWeb,
		findRipgrep: async () => findRipgrep(),
		clock: systemClock,
		todos: {
			read: () => todos,
			async write(list) {
				todos = list;
			},
		},
		questions: nobodyToAsk,
		plan: noPlanMode,
		agents: noAgents,
		mail: noMail,
		media: noMedia,
		tasks: noTasks,
		...overrides,
	};
	return {
		root,
		environment,
		at: (...names) => path.join(root, ...names),
		remove: () => rm(root, { recursive: true, force: true }),
	};
}

export interface PreparedCall {
	readonly approval: ApprovalNeed | null;
	readonly hasEffect: boolean;
	execute(signal?: AbortSignal): Promise<ToolReturn>;
}

/** Opens a call that must fit the schema and be ready to run. */
export async function prepareCall(tool: Tool, value: unknown, toolCallId = "call-1"): Promise<PreparedCall> {
	const opened = await tool.open(value, { toolCallId, rawArguments: JSON.stringify(value) });
	if (!opened.ok) throw new Error(opened.issue);
	const { preparation } = opened;
	if (preparation.kind === "settled") throw new Error(`Settled: ${preparation.result.message}`);
	return {
		approval: preparation.approval,
		hasEffect: preparation.hasEffect,
		execute: async (signal = new AbortController().signal) => resultOf(await preparation.execute(signal)),
	};
}

/** Opens a call in a turn that this signal cancels. */
export async function openCall(tool: Tool, value: unknown, signal: AbortSignal): Promise<void> {
	await tool.open(value, { toolCallId: "call-1", rawArguments: JSON.stringify(value), signal });
}

/** Opens a call and runs it, whatever it asks. */
export async function call(tool: Tool, value: unknown, toolCallId = "call-1"): Promise<ToolReturn> {
	const opened = await tool.open(value, { toolCallId, rawArguments: JSON.stringify(value) });
	if (!opened.ok) throw new Error(opened.issue);
	const { preparation } = opened;
	if (preparation.kind === "settled") return preparation.result;
	return resultOf(await preparation.execute(new AbortController().signal));
}

/** The result of a call, whether or not a person refused it. */
export function resultOf(outcome: ToolReturn | Refusal): ToolReturn {
	return "kind" in outcome ? outcome.result : outcome;
}

/** The brief of an error; null when it was none. */
export function briefOf(result: ToolReturn): string | null {
	if (!result.is_error) return null;
	const block = result.display[0];
	return block !== undefined && "text" in block ? block.text : null;
}

/** The sentence that says why arguments do not fit; null when they do. */
export async function issueOf(tool: Tool, value: unknown): Promise<string | null> {
	const opened = await tool.open(value, { toolCallId: "call-1", rawArguments: null });
	return opened.ok ? null : opened.issue;
}
