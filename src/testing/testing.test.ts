import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
	expectTranscript,
	type ScriptedAgent,
	type ScriptedAgentOptions,
	scriptedAgent,
	transcriptOf,
} from "./testing.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
	vi.unstubAllEnvs();
	for (const end of ends.splice(0)) await end();
});

async function start(answers: ScriptedAgentOptions["answers"], options: Partial<ScriptedAgentOptions> = {}) {
	const agent = await scriptedAgent({ ...options, answers });
	ends.push(() => agent.close());
	return agent;
}

const touch = { text: "I will.", calls: [{ tool: "Shell", arguments: { command: "touch hi" } }] };

/** Runs the prompt to its end. */
async function run(agent: ScriptedAgent) {
	const session = await agent.open({ approve: (ask) => ask.reject("no") });
	await session.prompt("Create the file hi");
	return session;
}

describe("a scripted agent", () => {
	it.each(["memory", "disk"] as const)("works in temporary directories, which close removes (%s)", async (store) => {
		const agent = await start(
			[{ calls: [{ tool: "WriteFile", arguments: { path: "a.txt", content: "A" } }] }, "Done."],
			{
				store,
			},
		);
		const session = await agent.open({ approve: (ask) => ask.once() });
		expect(await session.prompt("Write it")).toMatchObject({ outcome: "finished", text: "Done." });
		expect(await readFile(path.join(agent.workDir, "a.txt"), "utf8")).toBe("A");
		expect(existsSync(path.join(agent.home, "sessions"))).toBe(store === "disk");
		const directory = path.dirname(agent.home);
		expect(existsSync(directory)).toBe(true);
		await Promise.all([agent.close(), agent.close()]);
		expect(existsSync(directory)).toBe(false);
	});

	it("is closed at the end of a block", async () => {
		let directory = "";
		{
			await using agent = await scriptedAgent({ answers: [] });
			directory = path.dirname(agent.home);
			expect(existsSync(directory)).toBe(true);
		}
		expect(existsSync(directory)).toBe(false);
	});

	it("leaves nothing behind when the settings are refused, and never removes the caller's directory", async () => {
		const own = await mkdtemp(path.join(tmpdir(), "own-"));
		ends.push(() => rm(own, { recursive: true }));
		vi.stubEnv("TMPDIR", own);
		await expect(
			scriptedAgent({ answers: [], settings: { loop_control: { max_steps_per_turn: "many" } }, workDir: own }),
		).rejects.toThrow();
		const agent = await scriptedAgent({ answers: [], workDir: own });
		expect(agent.workDir).toBe(own);
		await agent.close();
		expect(existsSync(own)).toBe(true);
		expect(await readdir(own)).toEqual([]);
	});

	it("shows commands none of this process's variables but PATH", async () => {
		vi.stubEnv("OPENAI_API_KEY", "sk-secret");
		const agent = await start([
			{ calls: [{ tool: "Shell", arguments: { command: "echo key=$OPENAI_API_KEY" } }] },
			"Done.",
		]);
		const session = await agent.open({ approve: (ask) => ask.once() });
		await session.prompt("Go");
		expect(await transcriptOf(session)).toContain('result #1 "key=\\n"');
	});

	it("says what the model was asked, and how many answers are left", async () => {
		const agent = await start(["One.", "Two."]);
		const session = await agent.open();
		await session.prompt("Hi");
		expect(agent.model.remaining).toBe(1);
		expect(agent.model.requests).toHaveLength(1);
		expect(JSON.stringify(agent.model.requests[0]?.messages)).toContain("Hi");
	});
});

describe("scripted answers", () => {
	it("think, are truncated and count tokens", async () => {
		const usage = { input_other: 3, input_cache_read: 0, input_cache_creation: 0, output: 2 };
		const agent = await start([{ thinking: "Hm.", text: "Half", truncated: true, usage }]);
		const session = await agent.open();
		expect(await session.prompt("Hi")).toMatchObject({ outcome: "truncated", usage: { input: 3, output: 2 } });
		expect(await transcriptOf(session)).toBe('prompt "Hi"\nstep 1\nthinking "Hm."\ntext "Half"\nended truncated\n');
	});

	it("fail as a provider does: what may pass is retried", async () => {
		const agent = await start([{ failure: { kind: "status", statusCode: 429, retryAfter: 1 } }, "Done."]);
		const session = await agent.open();
		const events: string[] = [];
		for await (const event of session.prompt("Hi")) events.push(event.type);
		expect(events).toContain("retry");
		expect(agent.model.remaining).toBe(0);
	});

	it("fail for good", async () => {
		const agent = await start([{ failure: { kind: "status", statusCode: 401, message: "bad key" } }]);
		const session = await agent.open();
		const { outcome, error } = await session.prompt("Hi");
		expect([outcome, error?.message]).toEqual(["failed", expect.stringContaining("bad key")]);
	});

	it("may call tools with what is not JSON", async () => {
		const agent = await start([{ calls: [{ tool: "Shell", arguments: '{"command":' }] }, "Sorry."]);
		const session = await run(agent);
		expect(await transcriptOf(session)).toMatch(/^call #1 Shell \{"command":$.*^error #1 /ms);
	});
});

const transcript = `prompt "Create the file hi"
step 1
text "I will."
call #1 Shell {"command":"touch hi"}
ask approval #1 "Run command \`touch hi\`"
answer reject by client "no"
error #1 "The tool call is rejected by the user. User feedback: no"
step 2
text "Done."
ended finished
`;

describe("a transcript", () => {
	it("is the same in every run, in memory and on disk", async () => {
		for (const store of ["memory", "disk", "disk"] as const) {
			expect(await transcriptOf(await run(await start([touch, "Done."], { store })))).toBe(transcript);
		}
	});

	it("has names for directories, ids and times, and the caller's replacements", async () => {
		const agent = await start([
			({ messages }) =>
				`${agent.workDir}/a ${agent.workDir}b ${agent.home}/x ${"0123456789abcdef".repeat(2)} 2026-01-02T03:04:05Z port 4711 ${messages.length > 0}`,
		]);
		const session = await run(agent);
		expect(await transcriptOf(session, { replace: [[/port \d+/, "port $1"]] })).toContain(
			'text "<work>/a <temporary>/workb <temporary>/home/x <id-1> <time> port $1 true"',
		);
	});

	it("is written only on demand, and then compared", async () => {
		const directory = await mkdtemp(path.join(tmpdir(), "transcripts-"));
		ends.push(() => rm(directory, { recursive: true }));
		const file = path.join(directory, "new", "touch.txt");
		const session = await run(await start([touch, "Done."]));
		await expect(expectTranscript(session, file)).rejects.toThrow(
			/^There is no transcript .*AGENTWIRE_UPDATE_TRANSCRIPTS=1/,
		);
		expect(existsSync(file)).toBe(false);
		vi.stubEnv("AGENTWIRE_UPDATE_TRANSCRIPTS", "1");
		await expectTranscript(session, file);
		vi.unstubAllEnvs();
		expect(await readFile(file, "utf8")).toBe(transcript);
		await writeFile(file, transcript.replaceAll("\n", "\r\n"));
		await expectTranscript(session, new URL(`file://${file}`));
	});

	it("may have placeholders in its file", async () => {
		const directory = await mkdtemp(path.join(tmpdir(), "transcripts-"));
		ends.push(() => rm(directory, { recursive: true }));
		const file = path.join(directory, "touch.txt");
		const session = await run(await start([touch, "Done."]));
		await writeFile(file, transcript.replace('"Done."', "<any>"));
		await expectTranscript(session, file);
		await writeFile(file, transcript.replace('"Done."', "<hex8:a>"));
		await expect(expectTranscript(session, file)).rejects.toThrow(/in line 9:\n- text <hex8:a>/);
	});

	it.each([
		["another answer", ["Finished."], 'in line 9:\n- text "Done."\n+ text "Finished."\n'],
		["a missing end", [], 'in line 9:\n- text "Done."\n+ ended failed'],
	])("that differs is reported with its first line: %s", async (_, rest, message) => {
		const directory = await mkdtemp(path.join(tmpdir(), "transcripts-"));
		ends.push(() => rm(directory, { recursive: true }));
		const file = path.join(directory, "touch.txt");
		await writeFile(file, transcript);
		const session = await run(await start([touch, ...rest]));
		const difference = expect.stringContaining(message);
		await expect(expectTranscript(session, file)).rejects.toMatchObject({ message: difference, expected: transcript });
		expect(await readFile(file, "utf8")).toBe(transcript);
	});
});
