// The published Codex SDK for TypeScript, unmodified. `AGENTWIRE_CODEX_SDK` names a directory in which it is installed:
// `npm install --omit=optional @openai/codex-sdk`.
import { execFile } from "node:child_process";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { hasSandbox } from "../support/executable/bubblewrap.ts";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

const sdk = process.env["AGENTWIRE_CODEX_SDK"] ?? "";
if (sdk === "") console.warn("skipped: the Codex SDK (AGENTWIRE_CODEX_SDK names no directory)");

const fixture = fileURLToPath(new URL("../fixtures/codex/run.mjs", import.meta.url));
const run = promisify(execFile);

interface Step {
	readonly options?: object;
	readonly thread?: object;
	/** The id of a thread. */
	readonly resume?: string;
	readonly input: unknown;
	readonly turn?: object;
	/** The type of event with which the turn is aborted. */
	readonly abortOn?: string;
}
interface Result {
	readonly id: string | null;
	readonly events: readonly { readonly type: string; readonly item?: Record<string, unknown> }[];
	readonly error: string | null;
}

/** Runs the steps one after the other in the work directory, through a link named `codex`. */
async function play(stage: Stage, ...steps: Step[]): Promise<readonly Result[]> {
	const link = path.join(stage.workDir, "..", "codex");
	if (!existsSync(link)) symlinkSync(executablePath, link);
	const placed = steps.map((step) => ({
		...step,
		thread: { workingDirectory: stage.workDir, skipGitRepoCheck: true, ...step.thread },
	}));
	const { stdout } = await run(process.execPath, [fixture, sdk, link, JSON.stringify(placed)], {
		env: { ...stage.environment, PATH: process.env["PATH"] },
		maxBuffer: 1 << 24,
	});
	return JSON.parse(stdout);
}

const items = (result: Result | undefined) =>
	(result?.events ?? []).filter(({ type }) => type === "item.completed").map(({ item }) => item);
const write = { sandboxMode: "workspace-write" };

describe.skipIf(sdk === "")("the Codex SDK", () => {
	it("has a text with its usage, and goes on with the thread", { timeout: 60_000 }, async () => {
		const scripts = ["usage: input_other=5 input_cache_read=3 output=2\nthink: hm\ntext: hello"];
		const stage = createStage({ scripts });
		const [first] = await play(stage, { input: "hi" });
		expect(first?.events).toEqual([
			{ type: "thread.started", thread_id: expect.any(String) },
			{ type: "turn.started" },
			{ type: "item.completed", item: { id: "item_0", type: "reasoning", text: "hm" } },
			{ type: "item.completed", item: { id: "item_1", type: "agent_message", text: "hello" } },
			{
				type: "turn.completed",
				usage: {
					input_tokens: 8,
					cached_input_tokens: 3,
					cache_write_input_tokens: 0,
					output_tokens: 2,
					reasoning_output_tokens: 0,
				},
			},
		]);
		stage.setScripts(["text: again"]);
		const [second] = await play(stage, { resume: first?.id ?? "", input: "more" });
		expect(stage.sessionIds()).toEqual([first?.id]);
		expect(second).toMatchObject({ id: first?.id, error: null });
		expect(items(second)).toEqual([{ id: "item_0", type: "agent_message", text: "again" }]);
	});

	it.skipIf(!hasSandbox())("writes as the sandbox says", { timeout: 60_000 }, async () => {
		const calls = (stage: Stage) => [
			toolCall("c1", "Shell", { command: "cat a.txt; exit 3" }),
			toolCall("c2", "WriteFile", { path: "a.txt", content: "x" }),
			toolCall("c3", "WriteFile", { path: path.join(stage.workDir, "..", "outside.txt"), content: "x" }),
			toolCall("c4", "SetTodoList", { todos: [{ title: "one", status: "done" }] }),
			"text: done",
		];
		const stage = createStage();
		const outside = path.join(stage.workDir, "..", "outside.txt");
		const inside = path.join(stage.workDir, "a.txt");
		stage.setScripts(calls(stage));
		const [only, wide] = await play(
			stage,
			{ input: "read", thread: { sandboxMode: "read-only" } },
			{ input: "write", thread: write },
		);
		const command = { type: "command_execution", command: "cat a.txt; exit 3", exit_code: 3, status: "failed" };
		expect(items(only)).toMatchObject([
			{ ...command, aggregated_output: expect.stringContaining("No such file") },
			{ type: "file_change", changes: [{ path: inside }], status: "failed" },
			{ type: "file_change", changes: [{ path: outside }], status: "failed" },
			{ type: "agent_message", text: "done" },
			{ type: "todo_list", items: [{ text: "one", completed: true }] },
		]);
		expect(items(wide)).toMatchObject([
			command,
			{ type: "file_change", changes: [{ path: inside, kind: "add" }], status: "completed" },
			{ type: "file_change", changes: [{ path: outside }], status: "failed" },
			{ type: "agent_message", text: "done" },
			{ type: "todo_list", items: [{ text: "one", completed: true }] },
		]);
		expect([existsSync(inside), existsSync(outside)]).toEqual([true, false]);
	});

	it("has structured output, asked for again until it fits", { timeout: 60_000 }, async () => {
		const outputSchema = {
			type: "object",
			properties: { ok: { type: "boolean" } },
			required: ["ok"],
			additionalProperties: false,
		};
		const stage = createStage();
		const answer = async (...scripts: string[]) => {
			stage.setScripts(scripts);
			const [result] = await play(stage, { input: "answer", turn: { outputSchema } });
			return result;
		};
		const last = (result: Result | undefined) => JSON.parse(String(items(result).at(-1)?.["text"]));
		expect(last(await answer('text: {"ok": true}'))).toEqual({ ok: true });
		expect(last(await answer("text: prose", 'text: {"ok": false}'))).toEqual({ ok: false });
		const unformed = await answer("text: a", "text: b", "text: c", "text: d");
		expect(unformed?.events.at(-1)).toMatchObject({
			type: "turn.failed",
			error: { message: expect.stringContaining("does not match the output schema") },
		});
	});

	it("sends images, and refuses what is none", { timeout: 60_000 }, async () => {
		const stage = createStage({ modelSettings: { capabilities: ["image_in"] } });
		const png = path.join(stage.workDir, "a.png");
		const none = path.join(stage.workDir, "b.png");
		const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
		writeFileSync(png, Buffer.from(pixel, "base64"));
		writeFileSync(none, "text");
		const input = (file: string) => [
			{ type: "text", text: "look" },
			{ type: "local_image", path: file },
		];
		const [seen, refused] = await play(stage, { input: input(png) }, { input: input(none) });
		expect(items(seen)).toMatchObject([{ type: "agent_message", text: "done" }]);
		expect(refused).toMatchObject({ events: [], error: expect.stringContaining(`--image: not an image: ${none}`) });
	});

	it("fails with the cause", { timeout: 60_000 }, async () => {
		const results = await play(
			createStage({ scripts: ["error: refused no"] }),
			{ input: "hi" },
			{ input: "hi", thread: { model: "unknown" } },
			{ input: "hi", resume: "gone" },
			{ input: "hi", options: { baseUrl: "http://127.0.0.1:9" } },
			{ input: "hi", options: { config: { sandbox_workspace_write: { exclude_slash_tmp: true } } } },
		);
		const said = (message: string) => expect.stringContaining(message);
		expect(results.map(({ events, error }) => events.at(-1) ?? error)).toEqual([
			{ type: "turn.failed", error: { message: said("no") } },
			{ type: "turn.failed", error: { message: said('No model "unknown" in config.toml.') } },
			said('There is no session "gone"'),
			said("--config openai_base_url is not supported"),
			said("--config sandbox_workspace_write.exclude_slash_tmp is not supported"),
		]);
		expect(results[0]?.error).toContain("exited with code 1");
	});

	it.skipIf(!hasSandbox())(
		"ends with the command that runs when the turn is aborted",
		{ timeout: 60_000 },
		async () => {
			const stage = createStage({ scripts: [toolCall("c1", "Shell", { command: "sleep 600" })] });
			const [result] = await play(stage, { input: "hi", thread: write, abortOn: "item.started" });
			expect(result?.error).toContain("abort");
			await expect.poll(() => stage.commands().filter((command) => command.includes("sleep"))).toEqual([]);
		},
	);
});
