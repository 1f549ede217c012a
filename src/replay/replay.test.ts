import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { listFixtures, placeFixture } from "../../test/support/store/session-fixtures.ts";
import type { AgentEvent, EventBody } from "../api/values/event.ts";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { createDiskFiles } from "../ports/files/disk-files.ts";
import { createDiskStore } from "../ports/store/disk/disk-store.ts";
import { scriptedAgent } from "../testing/testing.ts";
import { parseReplayText, type Recording, readRecording, toReplayText, withoutSecrets } from "./recording.ts";
import { replay } from "./replay.ts";

async function readStored(shareDir: string, workDir: string, id: string): Promise<Recording> {
	const options = { files: createDiskFiles(), shareDir, log: silentLog, clock: systemClock, protocolVersion: "1.10" };
	const stored = await createDiskStore(options).view(workDir, id);
	if (stored === null) throw new Error(`no session ${id}`);
	return await readRecording(stored);
}

const key = `sk-${"a1b2c3d4".repeat(4)}`;

/** A session with an approved and a rejected command, one that was steered, and one that failed. */
async function record(): Promise<Recording> {
	const shell = (command: string) => ({ calls: [{ tool: "Shell", arguments: { command } }] });
	const agent = await scriptedAgent({
		store: "disk",
		answers: [
			{ thinking: "Hm.", text: "I will.", ...shell(`echo ${key} >one`) },
			"Done.",
			shell("touch two"),
			"Then not.",
			{ failure: { kind: "status", statusCode: 429, retryAfter: 1 } },
			{ failure: { kind: "status", statusCode: 401, message: "bad key" } },
		],
	});
	const session = await agent.open({
		approve: (ask) => (ask.description.includes("two") ? ask.reject("Not that.") : ask.once()),
	});
	for (const prompt of ["One", "Two", "Three"]) await session.prompt(prompt);
	await session.close();
	const recording = await readStored(agent.home, agent.workDir, session.id);
	await agent.close();
	return recording;
}

const recording = await record();

/** The recording with the first event of a type changed. */
function altered<T extends EventBody["type"]>(
	type: T,
	change: (body: Extract<EventBody, { type: T }>) => EventBody,
): Recording {
	const isIt = (body: EventBody): body is Extract<EventBody, { type: T }> => body.type === type;
	const at = recording.events.findIndex(({ body }) => isIt(body));
	const events = recording.events.map((event, index): AgentEvent => {
		const { body } = event;
		return index === at && isIt(body) ? { ...event, body: change(body) } : event;
	});
	return { ...recording, events };
}

describe("a replay", () => {
	it("is the same as the recorded session, every time", async () => {
		for (let n = 0; n < 20; n += 1) {
			expect(await replay(recording)).toMatchObject({ kind: "same" });
		}
	});

	it("stops at what the kernel would not do", async () => {
		const outcome = await replay(
			altered("turn.ended", (body) => ({ ...body, outcome: { status: "finished", stoppedBy: "repetition" } })),
		);
		expect(outcome).toMatchObject({
			kind: "differs",
			difference: { place: "outcome.stoppedBy", recorded: '"repetition"', replayed: "nothing" },
		});
	});

	it("shows an event that does not come, and one too many", async () => {
		const first = recording.events.findIndex(({ body }) => body.type === "turn.ended");
		const events = recording.events.slice(0, first + 1);
		const surplus = { ...events[first], seq: first + 2, body: { type: "step.started", n: 9 } } as AgentEvent;
		const missing = await replay({ ...recording, events: [...events, surplus] }, { patience: 300 });
		expect(missing).toMatchObject({
			kind: "differs",
			difference: { seq: first + 2, recorded: '{"type":"step.started","n":9}', replayed: "nothing" },
		});
		const fewer = events.filter(({ body }) => body.type !== "status.changed");
		const renumbered = fewer.map((event, index) => ({ ...event, seq: index + 1 }));
		expect(await replay({ ...recording, events: renumbered }, { patience: 300 })).toMatchObject({ kind: "differs" });
	});

	it("says why a session cannot be replayed", async () => {
		const without = (index: number) => recording.events.filter((_, at) => at !== index);
		const reasonOf = async (events: readonly AgentEvent[]) => {
			const outcome = await replay({ ...recording, events });
			return outcome.kind === "not-replayable" ? outcome.reason : outcome.kind;
		};
		expect(await reasonOf([])).toBe("Nothing has happened in the session.");
		expect(await reasonOf(without(0))).toBe("The log is damaged: its first 1 events are missing.");
		expect(await reasonOf(without(4))).toBe("The log is damaged: event 5 cannot be read.");
		const flow = altered("turn.started", (body) => ({ ...body, input: "/flow:notes x" }));
		expect(await reasonOf(flow.events)).toBe("Event 1: the flow of /flow:notes is not recorded.");
	});

	it("plays side questions, rewinds, skills and exhausted budgets without their effects", async () => {
		const shell = { calls: [{ tool: "Shell", arguments: { command: "echo hi" } }] };
		const agent = await scriptedAgent({
			store: "disk",
			settings: { agentwire: { limits: { turn_tool_calls: 1 } } },
			answers: [shell, "Aside.", "Noted.", "Again.", "Forked."],
		});
		const skills = path.join(agent.workDir, ".agents", "skills", "notes");
		await mkdir(skills, { recursive: true });
		await writeFile(path.join(skills, "SKILL.md"), "---\nname: notes\ndescription: Takes notes\n---\nTake notes.\n");
		const session = await agent.open({ approve: (ask) => ask.once() });
		const outcomes: string[] = [];
		for (const prompt of ["One", "/btw Why?", "/skill:notes x", "/rewind", "/rewind 3 conversation apply", "Two"])
			outcomes.push((await session.prompt(prompt)).outcome);
		expect(outcomes).toEqual(["limit", ...Array.from({ length: 5 }, () => "finished")]);
		await session.close();
		const recorded = await readStored(agent.home, agent.workDir, session.id);
		await agent.close();
		const types = recorded.events.map(({ body }) => body.type);
		for (const type of ["side-question.ended", "session.rewound"]) expect(types).toContain(type);
		expect(await replay(recorded)).toMatchObject({ kind: "same" });
	});

	it("of an unfinished turn ends where the recording does", async () => {
		const end = recording.events.findIndex(({ body }) => body.type === "tool.started");
		const events = recording.events.slice(0, end + 1);
		expect(await replay({ ...recording, events })).toMatchObject({ kind: "same" });
	});
});

describe("an exported recording", () => {
	it("has no keys, and replays the same", async () => {
		expect(JSON.stringify(recording.events)).toContain(key);
		const { recording: clean, changed } = withoutSecrets(recording);
		expect(changed).toBeGreaterThan(0);
		const text = toReplayText(clean, "1.2.3");
		expect(text).not.toContain(key);
		const read = parseReplayText(text);
		expect(read.events.map(({ body }) => body)).toEqual(clean.events.map(({ body }) => body));
		expect(await replay(read)).toMatchObject({ kind: "same" });
	});

	it("that is none is refused with the reason", () => {
		const text = toReplayText(recording, "1.2.3");
		expect(() => parseReplayText("PK")).toThrow(/^line 1 is not JSON/);
		expect(() => parseReplayText("{}")).toThrow("it was not written by 'export --replayable'");
		expect(() => parseReplayText(text.replace('"agentwire_replay":1', '"agentwire_replay":2'))).toThrow(/version 2/);
		expect(() => parseReplayText(`${text}{"seq":1}\n`)).toThrow(/is not an event of this version$/);
		expect(() => parseReplayText(text.slice(0, -9))).toThrow(/^line \d+ is not JSON/);
	});
});

describe("sessions of kimi", async () => {
	const refused: Readonly<Record<string, string>> = {
		damaged: "The log is damaged: event 6 cannot be read.",
		"log-1.1": "The log is of an early version of Kimi, which did not store where turns end.",
		"headerless-old": "The log is of an early version of Kimi, which did not store where turns end.",
	};
	it.each(await listFixtures())("%s", async (name) => {
		const place = await placeFixture(name);
		try {
			const outcome = await replay(await readStored(place.shareDir, place.workDir, place.id));
			expect(outcome).toMatchObject(
				name in refused ? { kind: "not-replayable", reason: refused[name] } : { kind: "same" },
			);
		} finally {
			await place.remove();
		}
	});
});
