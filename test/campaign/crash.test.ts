// A small fixed part of the crash campaign, and what a failing disk does to a turn: it ends with an error that names the
// path and the cause, nothing is delivered after the failure, and the server stays usable (docs/explanation/guarantees.md).
import { describe, expect, it } from "vitest";
import { wholeText } from "../../src/base/text/long-text.ts";
import { toEventLines } from "../../src/ports/store/disk/logs/event-log.ts";
import type { Mishap, Plan } from "../support/store/failing-files.ts";
import { createMemoryFiles } from "../support/store/memory-files.ts";
import { runCrash } from "./frame/crash.ts";
import { eventsOf, readJournal } from "./frame/journal-file.ts";
import { type Happening, liveInMemory, shareDir } from "./frame/memory-life.ts";
import { toPart, wireCrash } from "./wire/crash.ts";
import { parseDelivered } from "./wire/crash-client.ts";
import { committedPart, toPersisted } from "./wire/crash-deliveries.ts";
import { checkStateHasDelivered } from "./wire/crash-judge.ts";
import { type LifeScript, scenarios } from "./wire/crash-scenarios.ts";
import { serveWire } from "./wire/crash-server.ts";

describe("the crash campaign", () => {
	it("finds nothing at a sample of its points", { timeout: 120_000 }, async () => {
		const options = { rounds: 5, seed: 1, points: 1, log: () => {} };
		const { findings, figures, rounds } = await runCrash(wireCrash, "--kind crash", options);
		expect(findings).toEqual([]);
		expect(rounds).toBe(scenarios.length + 5);
		expect(figures["stopped"]).toBeGreaterThan(30);
	});

	it("expects of a log merged deltas, and no deltas that no end followed", () => {
		const text = (value: string) => ({ type: "ContentPart", payload: { type: "text", text: value } });
		expect(toPersisted([text("a"), text("b"), { type: "TurnEnd", payload: {} }, text("c")])).toEqual([
			text("ab"),
			{ type: "TurnEnd", payload: {} },
		]);
		expect(committedPart([{ type: "TurnBegin", payload: {} }, { type: "StepBegin", payload: {} }, text("a")])).toEqual([
			{ type: "TurnBegin", payload: {} },
		]);
	});

	it("counts a status of servers as committed at the second step, not at the first", () => {
		const begin = { type: "TurnBegin", payload: {} };
		const status = { type: "StatusUpdate", payload: {} };
		const step = (n: number) => ({ type: "StepBegin", payload: { n } });
		expect(committedPart([begin, status, step(1)])).toEqual([begin]);
		expect(committedPart([begin, status, step(1), step(2)])).toEqual([begin, status, step(1)]);
	});

	it("finds an approval for the session of a server's tool that is not in the state", () => {
		const display = [{ type: "brief", text: "Approving it for the session covers `mcp__srv__note`." }];
		const request = { type: "ApprovalRequest", payload: { id: "a", display } };
		const response = { type: "ApprovalResponse", payload: { request_id: "a", response: "approve_for_session" } };
		const state = (...actions: string[]) => Buffer.from(JSON.stringify({ auto_approve_actions: actions }, null, 2));
		expect(checkStateHasDelivered([request, response], state("Shell(ls:*)", "mcp__srv__note"))).toEqual([]);
		expect(checkStateHasDelivered([request, response], state("Shell(ls:*)"))).toEqual([
			"an approval of mcp__srv__note for the session was delivered and is not in the state",
		]);
	});
});

function scriptOf(name: string): LifeScript {
	const found = scenarios.find((scenario) => scenario.name === name)?.scripts[0];
	if (found === undefined) throw new Error(`There is no scenario ${name}.`);
	return { ...found, prompts: ["do it", "again"], model: [...found.model, "text: more", "text: more", "text: more"] };
}

const delivered = (happenings: readonly Happening[]) =>
	happenings.flatMap((one) => (one.kind === "delivered" ? [parseDelivered(one.line)] : []));

/** Lives through one life of a script. */
const live = (script: LifeScript, plan: Omit<Plan, "onStruck"> | null) =>
	liveInMemory({ files: createMemoryFiles(), parts: [toPart(script, 0)], life: 1, plan, serve: serveWire });

/** Mishaps, and at which effects they are tried: every `step`th from `first` on. Together those of a kind leave none out. */
const mishaps: readonly (readonly [string, Extract<Mishap, { kind: "fail" }>, first: number, step: number])[] = [
	["the disk is full from then on", { kind: "fail", code: "ENOSPC" }, 1, 3],
	["the disk is read-only from then on", { kind: "fail", code: "EROFS" }, 2, 3],
	["permission is denied from then on", { kind: "fail", code: "EACCES" }, 3, 3],
	["the disk is full once", { kind: "fail", code: "ENOSPC", once: true }, 1, 2],
	["the disk is full once and half a write stays", { kind: "fail", code: "ENOSPC", once: true, half: true }, 2, 2],
];

const isProjection = (file: string): boolean => /(wire|context(_\d+)?)\.jsonl$|state\.json$/.test(file);

function isFailure(one: Happening): boolean {
	if (one.kind === "struck") return !isProjection(one.path);
	return one.kind === "effect" && !isProjection(one.effect.path);
}

/** What was appended to the journal, as lines of the log that Kimi reads. */
function persistedLines(happenings: readonly Happening[]): string {
	const appended = happenings.flatMap((one) =>
		one.kind === "effect" && one.effect.path.endsWith("journal.jsonl") ? [one.text] : [],
	);
	const events = eventsOf(readJournal(Buffer.from(appended.join(""))));
	return toEventLines(events).map(wholeText).join("\n");
}

describe.each(["two calls at once", "steer"])("a turn of the scenario %s", (name) => {
	it.each(mishaps)("ends in good order at whatever effect %s", async (_, mishap, first, step) => {
		const script = scriptOf(name);
		const whole = await live(script, null);
		expect(whole.completed).toBe(true);
		for (let at = first; at <= whole.effects; at += step) {
			const life = await live(script, { at, mishap });
			expect(life.completed).toBe(true);
			const answers = delivered(life.happenings).filter(
				({ id, method }) => method === null && id?.startsWith("prompt-"),
			);
			expect(answers).toHaveLength(2);
			const errors = answers.flatMap(({ error }) => error ?? []);
			for (const error of errors) {
				expect(error).toEqual({ code: -32603, message: expect.stringMatching(/^Cannot write \/home/) });
				expect(error.message).toContain(mishap.code);
			}
			// A disk that works again serves the next prompt.
			if (mishap.once === true && answers[0]?.error !== null) expect(answers[1]?.error).toBeNull();
			// Nothing fails with a file that is written again from the journal: the next write to another one does.
			const struckAt = life.happenings.findIndex(({ kind }) => kind === "struck");
			const failsAt = life.happenings.findIndex((one, index) => index >= struckAt && isFailure(one));
			const later = failsAt === -1 ? [] : life.happenings.slice(failsAt);
			const persisted = persistedLines(life.happenings.slice(0, failsAt));
			const turn = delivered(later).slice(
				0,
				delivered(later).findIndex(({ id, error }) => id?.startsWith("prompt-") && error !== null) + 1,
			);
			// What was in the log when the disk failed may still be on its way to the client.
			const late = turn.filter(({ params }) => params === null || !persisted.includes(JSON.stringify(params)));
			const types = new Set(late.flatMap(({ params }) => params?.type ?? []));
			for (const type of types) expect(["TurnEnd", "ApprovalResponse"]).toContain(type);
		}
	});
});

describe("a share directory that cannot be written at all", () => {
	it("lets the server start and is named in the answer to the first prompt", async () => {
		const plan = { at: 1, mishap: { kind: "fail", code: "EROFS" } } as const;
		const life = await live(scriptOf("plain"), plan);
		const lines = delivered(life.happenings);
		expect(lines[0]).toMatchObject({ id: "initialize", error: null });
		const types = lines.flatMap(({ params }) => params?.type ?? []);
		expect(types.filter((type) => type !== "TurnEnd")).toEqual([]);
		expect(lines.slice(1).flatMap(({ error }) => error ?? [])).toEqual(
			[0, 1].map(() => ({
				code: -32603,
				message: expect.stringContaining(`${shareDir}/kimi.json: the file system is read-only (EROFS)`),
			})),
		);
	});
});
