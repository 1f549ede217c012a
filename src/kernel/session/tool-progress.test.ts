// Live output of tool calls, from the tool to the clients of a session.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolPlace, type ToolPlace } from "../../../test/support/host/tool-environment.ts";
import { call, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { untilTasksEnd } from "../../../test/support/sessions/background-work.ts";
import { backgroundSettings } from "../../../test/support/sessions/session-doubles.ts";
import { createSessionSubject, type SessionSubject } from "../../../test/support/sessions/session-subject.ts";
import {
	agentCall,
	createCallingModel,
	createSubagentSubject,
	longReport,
} from "../../../test/support/sessions/subagent-subject.ts";
import { createToolDouble, editNeed, type ToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble } from "../../../test/support/store/failing-session.ts";
import type { EventBody, EventBodyOf } from "../../api/values/event.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createShell } from "../../core/tools/shell.ts";
import type { ToolProgress } from "../../core/tools/tool.ts";

const start = { type: "turn.start", input: "hi" } as const;
const oneCall = (argumentsText = "{}", name = "T") =>
	createScriptedModel([
		[call("c1", name, argumentsText), done()],
		[say("ok"), done()],
	]);

/** A tool that reports when the test says so, and ends when it says so. */
function createReporter(double: ToolDouble = {}) {
	const executing = createDeferred<ToolProgress>();
	const end = createDeferred<void>();
	const tool = createToolDouble("T", {
		hasEffect: true,
		...double,
		async execute(signal, _id, progress) {
			executing.resolve(progress);
			await Promise.race([end.promise, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
			return { is_error: false, output: "done", message: "", display: [], extras: null };
		},
	});
	return { tool, executing: executing.promise, end };
}

function ofCall(bodies: readonly EventBody[]): string[] {
	return bodies.flatMap((body) => {
		if (body.type === "tool.progress") return [`${body.type} ${body.stream}@${body.offset} ${body.text}`];
		return /^(tool\.|interaction\.)/.test(body.type) ? [body.type] : [];
	});
}

describe("progress of a tool call", () => {
	it("is delivered after the start of the call and before its result, to clients that want it alone", async () => {
		const { tool, executing, end } = createReporter();
		const { session, attach, clock } = await createSessionSubject(oneCall(), [tool]);
		const [watching, other] = [attach({ wantsProgress: true }), attach()];
		await session.send(start);
		const report = await executing;
		report("stdout", "a");
		report("stdout", "b");
		report("stderr", "c");
		clock.advance(50);
		report("stdout", "d");
		end.resolve();
		await watching.next("turn.ended");
		await other.next("turn.ended");
		report("stdout", "late");
		clock.advance(1000);
		expect(ofCall(watching.bodies)).toEqual([
			"tool.requested",
			"tool.started",
			"tool.progress stdout@0 a",
			"tool.progress stdout@1 b",
			"tool.progress stderr@2 c",
			"tool.progress stdout@3 d",
			"tool.result",
		]);
		expect(ofCall(other.bodies)).toEqual(["tool.requested", "tool.started", "tool.result"]);
	});

	it("is not in the journal", async () => {
		const { tool, executing, end } = createReporter();
		const { session, attach, double } = await createSessionSubject(oneCall(), [tool]);
		const client = attach({ wantsProgress: true });
		await session.send(start);
		(await executing)("stdout", "a");
		await client.next("tool.progress");
		end.resolve();
		await client.next("turn.ended");
		expect(double.writes).not.toContain("tool.progress");
		expect(client.bodies.filter(({ type }) => type === "tool.progress")).toHaveLength(1);
	});

	it("costs no timer and retains nothing while no client wants it", async () => {
		const { tool, executing, end } = createReporter();
		const { session, attach, clock } = await createSessionSubject(oneCall(), [tool]);
		const client = attach();
		await session.send(start);
		const report = await executing;
		const timers = clock.waiting();
		for (let n = 0; n < 1000; n += 1) report("stdout", "x".repeat(1000));
		expect([clock.waiting(), (await session.snapshot()).unfinished]).toEqual([timers, []]);
		end.resolve();
		await client.next("turn.ended");
		expect(client.bodies.map(({ type }) => type)).not.toContain("tool.progress");
	});

	it("is in the snapshot of a client that attaches while the call runs, and continues there", async () => {
		const { tool, executing, end } = createReporter();
		const { session, attach, clock } = await createSessionSubject(oneCall(), [tool]);
		attach({ wantsProgress: true });
		await session.send(start);
		const report = await executing;
		report("stdout", "a");
		clock.advance(50);
		report("stdout", "b");
		clock.advance(50);
		report("stdout", "c");
		report("stdout", "d");
		const second = attach({ wantsProgress: true });
		expect(second.attachment.snapshot.unfinished).toEqual([
			{ agentPath: [], body: { type: "tool.progress", toolCallId: "c1", stream: "stdout", text: "abc", offset: 0 } },
		]);
		clock.advance(50);
		expect(await second.next("tool.progress")).toMatchObject({ text: "d", offset: 3 });
		end.resolve();
		await second.next("turn.ended");
		expect((await session.snapshot()).unfinished).toEqual([]);
	});

	it("ends with a cancel", async () => {
		const { tool, executing } = createReporter();
		const { session, attach, clock } = await createSessionSubject(oneCall(), [tool]);
		const client = attach({ wantsProgress: true });
		await session.send(start);
		const report = await executing;
		report("stdout", "a");
		report("stdout", "b");
		await session.send({ type: "turn.cancel" });
		report("stdout", "c");
		await client.next("turn.ended");
		clock.advance(1000);
		expect(ofCall(client.bodies)).toEqual(["tool.requested", "tool.started", "tool.progress stdout@0 a", "tool.ended"]);
		expect((await session.snapshot()).unfinished).toEqual([]);
	});

	it("does not exist for a call that was refused: it never starts", async () => {
		const { tool } = createReporter({ approval: editNeed });
		const { session, attach } = await createSessionSubject(oneCall(), [tool]);
		const client = attach({ wantsProgress: true });
		await session.send(start);
		const { interaction } = await client.next("interaction.requested");
		const answer = { kind: "approval", decision: "reject", feedback: "" } as const;
		await session.send({ type: "interaction.respond", interactionId: interaction.id, answer });
		await client.next("turn.ended");
		expect(ofCall(client.bodies)).toEqual([
			"tool.requested",
			"interaction.requested",
			"interaction.resolved",
			"tool.result",
		]);
	});

	it("does not fill the queue of a client that does not read, and delays nobody", async () => {
		const { tool, executing, end } = createReporter();
		const { session, attach, clock } = await createSessionSubject(oneCall(), [tool]);
		const stalled = await session.attach({
			client: null,
			tools: [],
			capabilities: [],
			hooks: null,
			wantsProgress: true,
		});
		const client = attach({ wantsProgress: true });
		await session.send(start);
		const report = await executing;
		for (let n = 0; n < 1000; n += 1) {
			report("stdout", "x");
			clock.advance(50);
			if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
		}
		await client.next("tool.progress");
		const batch = await stalled.events[Symbol.asyncIterator]().next();
		expect(batch.value).toHaveLength(256);
		end.resolve();
		void drain(stalled.events);
		await client.next("turn.ended");
	});
});

describe("progress of a call of a subagent", () => {
	const runSubagent = async (changes: object) => {
		let executed = 0;
		const tool = createToolDouble("E", {
			hasEffect: true,
			async execute(_signal, _id, progress) {
				executed += 1;
				progress("stdout", "a");
				return { is_error: false, output: "done", message: "", display: [], extras: null };
			},
		});
		const small = createScriptedModel([
			[call("c1", "E"), done()],
			[say(longReport), done()],
		]);
		const model = createCallingModel([agentCall("a1", { subagent_type: "small", ...changes })]);
		const subject = await createSubagentSubject(model, { tool, models: { small }, attach: { wantsProgress: true } });
		await subject.run();
		if ("run_in_background" in changes) await untilTasksEnd(subject.session);
		expect(executed).toBe(1);
		return subject.events.filter(({ body }) => body.type === "tool.progress");
	};

	it("comes from the subagent", async () => {
		expect(await runSubagent({})).toMatchObject([
			{ agentPath: [{ parentToolCallId: "a1" }], body: { toolCallId: "c1", text: "a", offset: 0 } },
		]);
	});

	it("is not delivered for one in the background, like its other events", async () => {
		expect(await runSubagent({ run_in_background: true })).toEqual([]);
	});
});

async function drain(events: AsyncIterable<unknown>): Promise<void> {
	for await (const _ of events);
}

describe("Shell", () => {
	let place: ToolPlace;
	beforeEach(async () => {
		place = await createToolPlace();
	});
	afterEach(() => place.remove());

	const run = async (command: string): Promise<SessionSubject> =>
		await createSessionSubject(oneCall(JSON.stringify({ command }), "Shell"), [createShell(place.environment)], {
			yolo: true,
		});

	it("in the background reports while the command runs, also to a client that attaches later", async () => {
		const double = await createSessionDouble();
		const stored = { ...double.stored, directory: place.at("work") };
		const command = { command: "serve", run_in_background: true, description: "the server" };
		const gone = createDeferred<void>();
		const { session, attach, clock } = await createSessionSubject(
			oneCall(JSON.stringify(command), "Shell"),
			[],
			{
				yolo: true,
				createTools: async ({ tasks }) => [createShell({ ...place.environment, tasks })],
				background: {
					settings: backgroundSettings,
					startWorker: async () => ({ gone: gone.promise, nudge() {}, release: gone.resolve }),
					claimStaleAfter: 15_000,
				},
			},
			{ ...double, stored },
		);
		const first = attach();
		await session.send(start);
		await first.next("turn.ended");
		const [task] = await stored.tasks.list();
		await task?.appendOutput("listening\n");
		const watching = attach({ wantsProgress: true });
		const progress = { type: "tool.progress", toolCallId: "c1", stream: "stdout" };
		expect(await watching.next("tool.progress")).toEqual({ ...progress, text: "listening\n", offset: 0 });
		await task?.appendOutput("bye\n");
		clock.advance(250);
		expect(await watching.next("tool.progress")).toEqual({ ...progress, text: "bye\n", offset: 10 });
		gone.resolve();
		await untilTasksEnd(session);
		expect((await session.snapshot()).unfinished).toEqual([]);
		expect(first.bodies.map(({ type }) => type)).not.toContain("tool.progress");
	});

	it("reports both streams of a real command while it runs", async () => {
		const gate = place.at("work", "gate");
		const { session, attach, clock } = await run(
			`mkfifo ${gate}; echo out; echo err >&2; read line < ${gate}; printf "$line"`,
		);
		const client = attach({ wantsProgress: true });
		await session.send(start);
		const seen: EventBodyOf<"tool.progress">[] = [];
		const until = async (text: string) => {
			while (!seen.some((progress) => progress.text.includes(text))) {
				clock.advance(50);
				await new Promise((resolve) => setImmediate(resolve));
				seen.splice(0, seen.length, ...client.bodies.flatMap((body) => (body.type === "tool.progress" ? [body] : [])));
			}
		};
		await until("out");
		await until("err");
		expect(client.bodies.map(({ type }) => type)).not.toContain("tool.result");
		await place.environment.allFiles.openAppend(gate).then(async (file) => {
			await file.append("fin\n");
			await file.close();
		});
		const { result } = await client.next("tool.result");
		expect(result).toMatchObject({ is_error: false });
		await until("fin");
		await client.next("turn.ended");
		const textOf = (stream: string) =>
			seen.flatMap((progress) => (progress.stream === stream ? [progress.text] : [])).join("");
		expect([textOf("stdout"), textOf("stderr")]).toEqual(["out\nfin", "err\n"]);
		let end = 0;
		for (const { text, offset } of seen) {
			expect(offset).toBe(end);
			end += text.length;
		}
		const types = client.bodies.map(({ type }) => type);
		expect(types.indexOf("tool.started")).toBeLessThan(types.indexOf("tool.progress"));
		expect(types.lastIndexOf("tool.progress")).toBeLessThan(types.indexOf("tool.result"));
	});
});
