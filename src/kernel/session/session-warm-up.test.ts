// When a session warms its model up: after the first attach, and only while nothing else uses the model.
import { describe, expect, it, vi } from "vitest";
import { createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble } from "../../../test/support/store/failing-session.ts";
import type { ContextRow } from "../../api/values/conversation.ts";
import type { LogFields } from "../../base/log.ts";
import { silentLog } from "../../base/log.ts";
import type { Model } from "../../core/models/model.ts";
import type { Batch, CommitOptions } from "../../ports/store/session-store.ts";

function createColdModel(warmUp: () => Promise<void> = async () => {}) {
	const calls: string[] = [];
	const model: Model = {
		...createScriptedModel([
			[say("a"), done()],
			[say("b"), done()],
		]),
		async warmUp() {
			calls.push("warm-up");
			await warmUp();
		},
	};
	return { model, calls };
}

describe("warming up", () => {
	it("starts once, after the first client has its answer", async () => {
		const { model, calls } = createColdModel();
		const { attach, clock } = await createSessionSubject(model);
		clock.advance(1000);
		expect(calls).toEqual([]);
		attach();
		expect(calls).toEqual([]);
		clock.advance(0);
		expect(calls).toEqual(["warm-up"]);
		attach();
		clock.advance(1000);
		expect(calls).toEqual(["warm-up"]);
	});

	it("is skipped when a turn has begun or the session is closed", async () => {
		const busy = createColdModel();
		const subject = await createSessionSubject(busy.model);
		const client = subject.attach();
		await subject.session.send({ type: "turn.start", input: "hi" });
		subject.clock.advance(0);
		await client.next("turn.ended");
		subject.clock.advance(1000);
		expect(busy.calls).toEqual([]);

		const ended = createColdModel();
		const { session, attach, clock } = await createSessionSubject(ended.model);
		attach();
		await session.stop();
		clock.advance(0);
		expect(ended.calls).toEqual([]);
	});

	it("logs a failure, and nothing else", async () => {
		const lines: [string, LogFields | undefined][] = [];
		const log = { ...silentLog, debug: (...line: [string, LogFields?]) => void lines.push([line[0], line[1]]) };
		const { model } = createColdModel(() => Promise.reject(new Error("no way")));
		const { attach, clock, session } = await createSessionSubject(model, [], { log });
		const client = attach();
		clock.advance(0);
		await new Promise((resolve) => setImmediate(resolve));
		expect(lines).toEqual([["The first turn could not be warmed up.", { error: new Error("no way") }]]);
		await session.send({ type: "turn.start", input: "hi" });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
	});

	it("makes ready what a model is shown of the tools, and leaves the rest to a turn that has begun", async () => {
		const subjects = (names: readonly string[]) => {
			const shown: string[] = [];
			const tools = names.map((name) => ({
				...createToolDouble(name),
				parameters: async () => {
					shown.push(name);
					return { type: "object" };
				},
			}));
			return { shown, tools };
		};
		const idle = subjects(["A", "B", "C"]);
		const quiet = await createSessionSubject(createColdModel().model, idle.tools);
		quiet.attach();
		quiet.clock.advance(0);
		await vi.waitFor(() => expect(idle.shown).toEqual(["A", "B", "C"]));

		const busy = subjects(["A", "B", "C"]);
		const { attach, clock, session } = await createSessionSubject(createColdModel().model, busy.tools);
		const client = attach();
		clock.advance(0);
		await session.send({ type: "turn.start", input: "hi" });
		await client.next("turn.ended");
		expect(busy.shown).toEqual(["A", "B", "C"]);
	});

	it("that could not create the tools is repeated by the turns until one succeeds", async () => {
		const appended: ContextRow[] = [];
		const { stored, ...double } = await createSessionDouble();
		const watched = {
			...stored,
			commit: async (batch: Batch, options?: CommitOptions) => {
				appended.push(...(batch.context?.rows ?? []));
				return await stored.commit(batch, options);
			},
		};
		let attempts = 0;
		const createTools = async () => {
			attempts += 1;
			if (attempts < 3) throw new Error("too many open files");
			return [];
		};
		const { model } = createColdModel();
		const subject = await createSessionSubject(model, [], { createTools }, { ...double, stored: watched });
		const client = subject.attach();
		subject.clock.advance(0);
		await new Promise((resolve) => setImmediate(resolve));
		for (const status of ["failed", "finished"]) {
			await subject.session.send({ type: "turn.start", input: "hi" });
			expect(await client.next("turn.ended")).toMatchObject({ outcome: { status } });
		}
		expect(appended.filter(({ type }) => type === "system-prompt")).toHaveLength(1);
	});

	it("is skipped without a model, or with one that needs none", async () => {
		for (const model of [null, createScriptedModel([])]) {
			const { attach, clock } = await createSessionSubject(model);
			attach();
			clock.advance(1000);
			expect(clock.waiting()).toBe(0);
		}
	});
});
