// A small fixed part of the crash campaign of many sessions, and its judge: it must notice what a process could lose.
import { describe, expect, it } from "vitest";
import type { SessionFiles } from "../../scripts/campaign/crash/crash-checks.ts";
import { runCampaign, runRound } from "../../scripts/campaign/meerkat/crash.ts";
import type { Port } from "../../scripts/campaign/meerkat/crash-life.ts";
import { gather, judgeSession, type ReportedSession } from "../../scripts/campaign/meerkat/kill-judge.ts";
import type { SessionPlan } from "../../scripts/campaign/meerkat/kill-life.ts";
import { withoutSync } from "../../src/files/unsynced-files.ts";

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
		calls: Buffer.alloc(0),
		state: Buffer.alloc(0),
		agents: [],
	};
	return files;
}

function session(): ReportedSession {
	const sessions = new Map<string, ReportedSession>();
	gather(delivered, sessions);
	const found = sessions.get(id);
	if (found === undefined) throw new Error("nothing was gathered");
	return found;
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
const faultyPorts: readonly (readonly [string, Port])[] = [
	["sync nothing", withoutSync],
	["do not sync directories", (files) => ({ ...files, syncDirectory: async () => {} })],
	[
		"lose what is appended to the event log",
		(files) => ({
			...files,
			openAppend: async (target) => {
				const file = await files.openAppend(target);
				return target.endsWith("wire.jsonl") ? { ...file, append: async () => {} } : file;
			},
		}),
	],
];

describe("the crash campaign of many sessions", () => {
	it("finds nothing at a sample of its points", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runCampaign({ rounds: 6, seed: 1, points: "all", log: () => {} });
		expect(findings).toEqual([]);
		expect(figures["sessions told of and found"]).toBeGreaterThan(50);
	});

	it.each(faultyPorts)("finds what goes wrong with files that %s", { timeout: 60_000 }, async (_, port) => {
		const plans = [plain, { ...plain, index: 1, isDeferred: true }, { ...plain, index: 2, hasTools: false }];
		const { effects } = await runRound(plans, [], port);
		const faults: string[] = [];
		for (let at = 10; at <= effects; at += 10) {
			faults.push(...(await runRound(plans, [{ effect: at, when: "after", loss: 0 }], port)).faults);
		}
		expect(faults).not.toEqual([]);
	});
});

describe("the judge of many sessions", () => {
	it("is content with what was kept", () => {
		expect(judgeSession(session(), filesWith(log), filesWith(log), [])).toEqual([]);
	});

	it.each([
		["TurnBegin", 'told but not kept: ["begin","hi"]'],
		["StepBegin", 'told but not kept: ["step"]'],
		["ContentPart", 'told but not kept: ["text","Hello there"]'],
		["ToolCall", 'told but not kept: ["call","c1",{"command":"ls"}]'],
		["TurnEnd", 'told but not kept: ["end"]'],
	])("finds a log without its %s", (type, fault) => {
		const files = filesWith(log.filter((message) => message.type !== type));
		expect(judgeSession(session(), files, files, [])).toContain(`${id}: ${fault}`);
	});

	it("finds a context without its input, an effect that nobody allowed, and a file that was changed", () => {
		const faults = judgeSession(session(), filesWith(log, [{ role: "user", content: "ho" }]), filesWith(log, []), [
			"ls",
		]);
		expect(faults).toEqual([
			`${id}: context: what was there was changed`,
			`${id}: 1 commands ran on 0 approvals`,
			`${id}: ran without being recorded: ls`,
			`${id}: 1 inputs were told to be taken, the context has 0`,
		]);
	});

	it("knows which session was put away", () => {
		const sessions = new Map<string, ReportedSession>();
		gather([event({ type: "run_started", prompt: "session 3, run 1" })], sessions);
		gather([{ id: "archive-3", result: { archived: true } }], sessions);
		expect(sessions.get(id)?.isArchived).toBe(true);
	});
});
