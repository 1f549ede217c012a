// A small fixed part of the crash campaign of many sessions, and its judge: it must notice what a process could lose.
import { describe, expect, it } from "vitest";
import type { Files } from "../../src/ports/files/port.ts";
import { withoutSync } from "../../src/ports/files/unsynced-files.ts";
import { countEffects, playCrash, runCrash } from "./frame/crash.ts";
import { judge, type SessionLife } from "./frame/crash-round.ts";
import type { SessionFiles } from "./frame/session-files.ts";
import { meerkatCrash } from "./meerkat/crash.ts";
import type { SessionPlan } from "./meerkat/crash-client.ts";
import { gather } from "./meerkat/crash-deliveries.ts";

const id = "01936f8a-7b2c-7000-8000-000000000001";
const event = (fields: object) => ({ method: "session/event", params: { session_id: id, event: fields } });
const delivered = [
	event({ type: "run_started", prompt: "hi" }),
	event({ type: "turn_started", turn_number: 0 }),
	event({ type: "text_delta", delta: "Hello" }),
	event({ type: "text_complete", content: "Hello there" }),
	event({ type: "tool_call_requested", id: "c1", args: { command: "ls" } }),
	event({ type: "run_completed" }),
	{ id: "run-0-1", result: { session_id: id, usage: {} } },
];

const log = [
	{ type: "TurnBegin", payload: { user_input: "hi" } },
	{ type: "StepBegin", payload: { n: 1 } },
	{ type: "ContentPart", payload: { type: "text", text: "Hello" } },
	{ type: "ContentPart", payload: { type: "think", think: "hm" } },
	{ type: "ContentPart", payload: { type: "text", text: " there" } },
	{ type: "ToolCall", payload: { id: "c1", function: { name: "Shell", arguments: '{"command":"ls"}' } } },
	{ type: "TurnEnd", payload: {} },
];

const lines = (values: readonly object[]): Buffer =>
	Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));

function filesWith(messages: readonly object[], context: readonly object[] = [{ role: "user", content: "hi" }]) {
	const files: SessionFiles = {
		events: lines(messages.map((message) => ({ message }))),
		context: lines(context),
		rotations: [],
		journal: Buffer.alloc(0),
		state: Buffer.alloc(0),
		agents: [],
	};
	return files;
}

const plain: SessionPlan = {
	index: 0,
	isDeferred: false,
	hasTools: true,
	runs: 2,
	decision: "approve",
	interruptAfter: null,
	archives: false,
};

/** Files that break a promise of theirs. */
const faultyPorts: readonly (readonly [string, (files: Files) => Files])[] = [
	["sync nothing", withoutSync],
	["do not sync directories", (files) => ({ ...files, syncDirectory: async () => {} })],
	[
		"garble what is appended to the journal",
		(files) => ({
			...files,
			openAppend: async (target) => {
				const file = await files.openAppend(target);
				const garbled = (text: string): string => text.replaceAll('"turn.started"', '"turn.starred"');
				return target.endsWith("journal.jsonl") ? { ...file, append: (text) => file.append(garbled(text)) } : file;
			},
		}),
	],
];

describe("the crash campaign of many sessions", () => {
	it("finds nothing at a sample of its points", { timeout: 60_000 }, async () => {
		const options = { rounds: 4, seed: 1, points: "all", log: () => {} } as const;
		const { findings, figures } = await runCrash(meerkatCrash, "--dialect meerkat --kind crash", options);
		expect(findings).toEqual([]);
		expect(figures["sessions reported and found"]).toBeGreaterThan(20);
	});

	it.each(faultyPorts)("finds what goes wrong with files that %s", { timeout: 60_000 }, async (_, port) => {
		const scenario = [plain, { ...plain, index: 1, isDeferred: true }, { ...plain, index: 2, hasTools: false }];
		const { effects } = await countEffects(meerkatCrash, scenario, port);
		const found: string[] = [];
		for (let effect = 10; effect <= effects && found.length === 0; effect += 10) {
			const stops = [{ effect, when: "after", loss: "least" } as const];
			found.push(...(await playCrash(meerkatCrash, { scenario, stops }, port)).faults);
		}
		expect(found).not.toEqual([]);
	});
});

const found = [
	{ id: `read ${id}`, result: { session_id: id } },
	{ id: `turn ${id}`, result: { session_id: id } },
];

/** A life that delivered this and left those files, and one that found them and left others. */
function judged(
	before: SessionFiles,
	after: SessionFiles,
	ran: readonly string[] = [],
	lastLines: readonly object[] = found,
): readonly string[] {
	const toLines = (messages: readonly object[]): readonly string[] =>
		messages.map((message) => JSON.stringify(message));
	const life = { before, after: before, ran, completed: true, endedWell: true, lostPower: false };
	const lives: readonly SessionLife[] = [
		{ ...life, kind: "stopped", delivered: toLines(delivered) },
		{ ...life, kind: "recovery", after, ran: [], delivered: toLines(lastLines) },
	];
	return judge(meerkatCrash, [plain], id, lives);
}

describe("the judge of many sessions", () => {
	it("accepts what was persisted", () => {
		expect(judged(filesWith(log), filesWith(log))).toEqual([]);
	});

	it.each([
		["TurnBegin", 'delivered but not persisted: ["begin","hi"]'],
		["StepBegin", 'delivered but not persisted: ["step"]'],
		["ContentPart", 'delivered but not persisted: ["text","Hello there"]'],
		["ToolCall", 'delivered but not persisted: ["call","c1",{"command":"ls"}]'],
		["TurnEnd", 'delivered but not persisted: ["end"]'],
	])("finds a log without its %s", (type, fault) => {
		const files = filesWith(log.filter((message) => message.type !== type));
		expect(judged(files, files)).toContain(fault);
	});

	it("finds a context without its input, an effect that nobody allowed, and a file that was changed", () => {
		const before = filesWith(log, [{ role: "user", content: "ho" }]);
		const after = { ...filesWith(log, []), journal: Buffer.from("{}\n") };
		expect(judged(before, after, ["ls"])).toEqual([
			"1 inputs were delivered, the context has 0",
			"journal: no header",
			"1 commands ran on 0 approvals",
			"ran without being recorded: ls",
			"context: what was there was changed",
		]);
	});

	it("finds a session that a new process does not find", () => {
		const missing = { id: `read ${id}`, error: { code: -32000, message: "no", data: { code: "SESSION_NOT_FOUND" } } };
		expect(judged(filesWith(log), filesWith(log), [], [missing, ...found.slice(1)])).toEqual([
			`read ${id}: ${JSON.stringify(missing)}`,
		]);
	});

	it("recognizes an archived session", () => {
		const archived = [{ id: `archive ${id}`, result: { archived: true } }].map((message) => JSON.stringify(message));
		expect(gather([{ delivered: archived, lostPower: false }]).isArchived).toBe(true);
	});
});
