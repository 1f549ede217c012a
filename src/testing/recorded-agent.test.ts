import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sendEvents, startProviderServer } from "../../test/support/models/provider-server.ts";
import { type RecordedAgentOptions, recordedAgent, transcriptOf } from "./testing.ts";

const key = "sk-test-0123456789abcdef";
const chunk = (part: object) =>
	`data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }] })}\n\n`;

let directory = "";
let cassette = "";
beforeEach(async () => {
	directory = await mkdtemp(path.join(tmpdir(), "recorded-"));
	cassette = path.join(directory, "a.jsonl");
});
afterEach(async () => {
	vi.unstubAllEnvs();
	await rm(directory, { recursive: true });
});

/** A turn with two steps, in a directory that is another one each time. */
async function run(options: Partial<RecordedAgentOptions> = {}) {
	await using agent = await recordedAgent({ cassette, ...options });
	const session = await agent.open({ approve: (ask) => ask.once() });
	const { outcome, text, error } = await session.prompt("Where are you?");
	return { outcome, text, message: error?.message, transcript: await transcriptOf(session) };
}

async function record() {
	const provider = await startProviderServer();
	provider.answerNext(sendEvents(chunk({ functionCall: { name: "ReadFile", args: { path: "notes.txt" } } })));
	provider.answerNext(sendEvents(chunk({ text: "There." }), { chunkSize: 20 }));
	vi.stubEnv("AGENTWIRE_UPDATE_CASSETTES", "1");
	vi.stubEnv("GEMINI_API_KEY", key);
	vi.stubEnv("GOOGLE_GEMINI_BASE_URL", provider.url);
	const recorded = await run();
	await provider.close();
	vi.unstubAllEnvs();
	expect(recorded).toMatchObject({ outcome: "finished", text: "There." });
	return recorded;
}

it("is the same in each of twenty replays, without its provider", async () => {
	const recorded = await record();
	const text = await readFile(cassette, "utf8");
	expect(text).not.toContain(key);
	for (let n = 0; n < 20; n += 1) expect(await run()).toEqual(recorded);
	expect(await readFile(cassette, "utf8")).toBe(text);
});

it("fails with the place of a difference, and by the faults that a test asks for", async () => {
	const recorded = await record();
	const workDir = path.join(directory, "work");
	const changed = await run({
		settings: { agentwire: { rewind: { enabled: false } } },
		workDir,
		faults: ["401"],
	}).catch((thrown: unknown) => thrown);
	expect(changed).toMatchObject({ message: expect.stringContaining("must be a fault such as 429@1") });
	await writeFile(path.join(workDir, "AGENTS.md"), "Be brief.\n");
	expect((await run({ workDir })).message).toMatch(
		/a\.jsonl matches request 1 .*First difference: \/body\/systemInstruction\/parts\/0\/text, character \d+\n.*\n\+ received: ".*Be brief/,
	);
	const retried = await run({ faults: ["429=0@1", "cut@2"], settings: { loop_control: { max_retries_per_step: 3 } } });
	expect(retried.transcript.match(/^retry .*$/gm)).toEqual([
		"retry 2 of 3: APIStatusError",
		"retry 3 of 3: APIConnectionError",
	]);
	expect(retried.transcript.replace(/^retry .*\n/gm, "")).toBe(recorded.transcript);
});

it("says how a missing cassette is recorded", async () => {
	await expect(run()).rejects.toThrow(
		`There is no cassette ${cassette}. Run the test again with AGENTWIRE_UPDATE_CASSETTES=1 and the key of a provider`,
	);
});
