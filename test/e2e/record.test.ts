// `agentwire record` with the built executable, against a provider on loopback that is gone when its answers are replayed.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, type Stage } from "../support/executable/executable.ts";
import { readProviderFixture, sendEvents } from "../support/models/provider-server.ts";
import { configFor, startProvider } from "../support/models/provider-stage.ts";

const key = "sk-test-0123456789abcdef";

/** The second answer of the model, after the result of the tool that it called. */
const geminiText = (text: string) =>
	`data: ${JSON.stringify({
		candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
		usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
	})}\n\n`;

function createBareStage(): Stage {
	const stage = createStage();
	rmSync(path.join(stage.shareDir, "config.toml"));
	return stage;
}

function runWith(stage: Stage, variables: Readonly<Record<string, string>>, ...argv: string[]) {
	return runExecutable(executablePath, argv, { cwd: stage.workDir, env: { ...stage.environment, ...variables } });
}

const prompt = ["--", executablePath, "-p", "Is größer a word?"];
const replay = ["record", "--cassette", "c.jsonl", "--mode", "replay", "--time-scale", "0"];

async function recordGemini() {
	const stage = createBareStage();
	const provider = await startProvider();
	provider.answerNext(sendEvents(geminiText("Yes, größer is."), { chunkSize: 50 }));
	const variables = { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: provider.url };
	const recorded = await runWith(stage, variables, "record", "--cassette", "c.jsonl", ...prompt);
	expect(recorded).toMatchObject({ code: 0, stdout: expect.stringContaining("Yes, größer is.") });
	await provider.close();
	return { stage, recorded, cassette: () => readFileSync(path.join(stage.workDir, "c.jsonl"), "utf8") };
}

describe("a command whose provider is in the environment", () => {
	it("is replayed without the provider and without a key, and a changed prompt is found", async () => {
		const { stage, recorded, cassette } = await recordGemini();
		expect(cassette()).not.toContain(key);
		const replayed = await runWith(stage, {}, ...replay, ...prompt);
		expect(replayed).toMatchObject({ code: 0, stdout: recorded.stdout });

		writeFileSync(path.join(stage.workDir, "AGENTS.md"), "Answer in one word.\n");
		const changed = await runWith(stage, {}, ...replay, ...prompt);
		expect(changed.code).toBe(1);
		expect(changed.stderr).toMatch(
			/agentwire record: No recording in c\.jsonl matches request 1 .*First difference: \/body\/systemInstruction\/parts\/0\/text, character \d+\n- recorded: .*\n\+ received: .*Answer in one word/,
		);
	});

	it.each([
		["429=1@1", "HTTP 429: Failed on purpose with status 429."],
		["500@1", "HTTP 500: Failed on purpose with status 500."],
		["cut=20@1", "the connection ended before the answer was complete"],
	])("is retried after a fault: %s", async (fault, message) => {
		const { stage, recorded } = await recordGemini();
		const { code, stdout } = await runWith(stage, {}, ...replay, "--fault", fault, ...prompt);
		expect(code).toBe(0);
		expect(stdout).toMatch(/^\* Retrying in \S+ s \(attempt 2 of \d+\): /);
		expect(stdout).toContain(`${message}\n${recorded.stdout}`);
	});
});

it("records the providers of the settings, wherever they are", async () => {
	const stage = createBareStage();
	const provider = await startProvider();
	provider.answerNext(sendEvents(readProviderFixture("openai-chat-stream.sse")));
	const settings = configFor(`${provider.url}/of/mine`, { type: "openai_legacy", model: "local" });
	const command = ["--", executablePath, "--config", settings, "--max-steps-per-turn", "1", "-p", "Weather?"];
	const recorded = await runWith(stage, {}, "record", "--cassette", "c.jsonl", ...command);
	expect(recorded.stdout).toContain("Checking both…");
	expect(provider.requests.map((request) => request.path)).toEqual(["/of/mine/chat/completions"]);
	await provider.close();
	const replayed = await runWith(stage, {}, ...replay, ...command);
	expect([replayed.code, replayed.stdout]).toEqual([recorded.code, recorded.stdout]);
});

it("records and replays by the settings alone", async () => {
	const stage = createBareStage();
	const provider = await startProvider();
	provider.answerNext(sendEvents(geminiText("Yes.")));
	const run = (mode: string) => {
		const given = {
			type: "gemini",
			model: "gemini-x",
			settings: { agentwire: { cassette: { file: path.join(stage.shareDir, "c.jsonl"), mode } } },
		};
		return runWith(stage, {}, "--config", configFor(provider.url, given), "-p", "Is it?");
	};
	const recorded = await run("record");
	expect(recorded).toMatchObject({ code: 0, stdout: expect.stringContaining("Yes.") });
	await provider.close();
	expect(await run("replay")).toMatchObject({ code: 0, stdout: recorded.stdout });
});

describe("the exit code", () => {
	it.each([
		[["sh", "-c", "exit 7"], 7, "made no model request to record. It must read ANTHROPIC_BASE_URL"],
		[["sh", "-c", "kill -9 $$"], 137, "made no model request"],
		[["true"], 1, "made no model request"],
		[["./missing"], 127, "./missing cannot be started: there is no such program."],
	])("of %j is %d", async (command, code, message) => {
		const finished = await createBareStage().run("record", "--", ...command);
		expect(finished).toMatchObject({ code, stderr: expect.stringContaining(message) });
	});

	it.each([
		[[], "needs a command to run, after '--'"],
		[["true"], "needs '--' before the command to run"],
		[
			["--mode", "rewind", "--", "true"],
			"--mode: 'rewind' is not one of record, replay, replay-or-record, passthrough",
		],
		[["--fault", "404", "--", "true"], "--fault: '404' is not a fault. Known: cut"],
		[["--time-scale", "-1", "--", "true"], "--time-scale needs a value"],
		[["--speed", "1", "--", "true"], "does not know '--speed'"],
		[["--replace", "x", "--", "true"], "--replace: 'x' is not TEXT=NAME"],
	])("of the line %j is 2", async (words, message) => {
		const finished = await createBareStage().run("record", ...words);
		expect(finished).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
	});

	it("of a replay without its cassette is 1", async () => {
		const finished = await createBareStage().run("record", "--mode", "replay", "--", "true");
		expect(finished).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no cassette cassette.jsonl") });
	});
});
