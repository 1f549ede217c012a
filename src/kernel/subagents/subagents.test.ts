// Subagents over doubles, from the call of the tool to the report. One file: events, approvals, hooks, resuming and files all
// need the same session around one subagent.
import { describe, expect, it } from "vitest";
import { briefOf } from "../../../test/support/host/tool-environment.ts";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	type ModelScript,
	parts,
	say,
} from "../../../test/support/models/scripted-model.ts";
import {
	agentCall,
	createCallingModel,
	createReportingModel,
	createSubagentSubject,
	longReport,
	subagentTypes,
} from "../../../test/support/sessions/subagent-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble, storageFailure } from "../../../test/support/store/failing-session.ts";
import type { ToolReturn } from "../../api/values/content.ts";
import { type ModelChunk, type ModelRequest, modelFailure } from "../../core/models/model.ts";
import type { MediaOperations } from "../../core/tools/operations.ts";
import type { AgentDescription, StoredAgent } from "../../ports/store/session-store.ts";

const report: ModelScript = [say(longReport), done()];
const approval = { kind: "approval", decision: "approve", feedback: "" } as const;
const path = (parentToolCallId: string, agentId: string, subagentType = "coder") => [
	{ parentToolCallId, agentId, subagentType },
];

/** The id that a report names. */
const idIn = (result: ToolReturn | undefined): string => /^agent_id: (\S+)/.exec(String(result?.output))?.[1] ?? "";
const textsOf = (request: ModelRequest | undefined) =>
	(request?.messages ?? []).map(({ role, content }) => [
		role,
		content.map((part) => (part.type === "text" ? part.text : part.type)).join("|"),
	]);
const outputOf = (id: string, text: string, resumed = false, type = "coder") =>
	`agent_id: ${id}\nresumed: ${resumed}\nactual_subagent_type: ${type}\nstatus: completed\n\n[summary]\n${text}`;

const truncated: ModelChunk = {
	type: "done",
	usage: null,
	messageId: null,
	end: { kind: "truncated", reason: "max_tokens" },
};

describe("a subagent whose answer is truncated", () => {
	it("has a report that says so", async () => {
		const { run } = await createSubagentSubject(createCallingModel([agentCall("P")], [say(longReport), truncated]));
		const { P } = await run();
		expect(P?.output).toContain(`status: truncated\n\n[summary]\n${longReport}\n\n[The last answer`);
		expect(P?.output).toContain(`(max_tokens) and is incomplete. Resume ${idIn(P)}`);
	});

	it("fails when there is nothing of it", async () => {
		const { run } = await createSubagentSubject(createCallingModel([agentCall("P")], [truncated]));
		const { P } = await run();
		expect(P).toMatchObject({ is_error: true, message: expect.stringContaining("token limit (max_tokens)") });
	});
});

describe("a subagent", () => {
	it("works with its own context and prompt, and its report is the result", async () => {
		const model = createCallingModel([agentCall("P")], report);
		const { run } = await createSubagentSubject(model);
		const { P } = await run();
		expect(P).toEqual({
			is_error: false,
			output: outputOf(idIn(P), longReport),
			message: "",
			display: [],
			extras: null,
		});
		expect(idIn(P)).toMatch(/^a[0-9a-f]{8}$/);
		const [, inside, after] = model.requests;
		expect(inside?.systemPrompt).toBe("Be brief.\n\n# Your part\n\nYou are the coder.");
		expect(textsOf(inside)).toEqual([["user", "do it"]]);
		expect(inside?.tools.map(({ name }) => name)).toEqual(["E"]);
		expect(textsOf(after)).toEqual([
			["user", "go"],
			["assistant", ""],
			["tool", outputOf(idIn(P), longReport)],
		]);
	});

	it("is asked once more for a short report, but not a third time", async () => {
		const model = createCallingModel([agentCall("P")], [say("Done."), done()], [say("Really."), done()]);
		const { run } = await createSubagentSubject(model);
		const { P } = await run();
		expect(P?.output).toBe(outputOf(idIn(P), "Really."));
		const asked = textsOf(model.requests[2]);
		expect(asked.slice(0, 2)).toEqual([
			["user", "do it"],
			["assistant", "Done."],
		]);
		expect(asked[2]?.[1]).toContain("very short");
	});

	it("gets the repository before its first task, when its type requires that", async () => {
		const model = createCallingModel([agentCall("P", { subagent_type: "explore" })], report);
		const { run } = await createSubagentSubject(model);
		await run();
		expect(textsOf(model.requests[1])).toEqual([["user", "<git-repository>clean</git-repository>\n\ndo it"]]);
	});

	it("prefers the model of the call to that of its type, and that to the session's", async () => {
		const [small, other] = [createReportingModel(), createReportingModel()];
		const calls = [
			agentCall("P", { subagent_type: "small" }),
			agentCall("Q", { subagent_type: "small", model: "other" }),
		];
		const model = createCallingModel(calls);
		const { run } = await createSubagentSubject(model, { models: { small, other } });
		const results = await run();
		expect(Object.values(results).map(({ is_error }) => is_error)).toEqual([false, false]);
		expect([small.requests.length, other.requests.length, model.requests.length]).toEqual([1, 1, 2]);
	});

	it("has the tools that its own model supports", async () => {
		const uploadVideo = async () => ({ ok: true, url: "ms://1" }) as const;
		const seeing = { ...createScriptedModel([[say(longReport), done()]], ["image_in", "video_in"]), uploadVideo };
		const calls = [agentCall("P"), agentCall("Q", { model: "seeing" })];
		const model = createCallingModel(calls, [say(longReport), done()]);
		const given: MediaOperations[] = [];
		const subject = await createSubagentSubject(model, {
			models: { seeing },
			onTools: ({ media }) => given.push(media),
		});
		await subject.run();
		expect(subject.operations().media).toEqual({ takesImages: false, takesVideos: false, uploadVideo: null });
		expect(given.map(({ takesImages, takesVideos }) => [takesImages, takesVideos]).sort()).toEqual([
			[false, false],
			[true, true],
		]);
		const video = { bytes: Buffer.alloc(1), mediaType: "video/mp4", name: "a.mp4" };
		const never = new AbortController().signal;
		const upload = given.find(({ takesVideos }) => takesVideos)?.uploadVideo;
		expect(await upload?.(video, never)).toEqual({ ok: true, url: "ms://1" });
	});
});

describe("events of a subagent", () => {
	it("carry all ids and are delivered merged, in the order of its turn", async () => {
		const reasoning = parts(
			{ type: "think", think: "h", encrypted: null },
			{ type: "think", think: "m", encrypted: null },
		);
		const first: ModelScript = [reasoning, say("a"), say("b"), call("c1", "E", '{"n":'), done()];
		const tool = createToolDouble("E");
		const model = createCallingModel([agentCall("P")], first, report);
		const { run, events } = await createSubagentSubject(model, { tool });
		const { P } = await run();
		const own = events.filter(({ agentPath }) => agentPath.length > 0);
		for (const { agentPath } of own) expect(agentPath).toEqual(path("P", idIn(P)));
		const persisted = own.filter(({ body }) => !/delta|tool-call.started/.test(body.type));
		expect(persisted.map(({ body }) => body)).toMatchObject([
			{ type: "turn.started", input: "do it" },
			{ type: "step.started", n: 1 },
			{ type: "content.completed", part: { type: "think", think: "hm" } },
			{ type: "content.completed", part: { type: "text", text: "ab" } },
			{ type: "tool.requested", call: { id: "c1" } },
			{ type: "status.changed" },
			{ type: "tool.result", toolCallId: "c1" },
			{ type: "step.started", n: 2 },
			{ type: "content.completed", part: { type: "text", text: longReport } },
			{ type: "status.changed" },
			{ type: "turn.ended", outcome: { status: "finished" } },
		]);
		const root = events.filter(({ agentPath }) => agentPath.length === 0).map(({ body }) => body.type);
		expect(root.filter((type) => type === "turn.started" || type === "turn.ended")).toHaveLength(2);
	});

	it("of two concurrent subagents are not mixed", async () => {
		const [gateA, gateB] = [createModelGate(), createModelGate()];
		const models = {
			a: createScriptedModel([[say("a1"), gateA, say(`a2 ${longReport}`), done()]]),
			b: createScriptedModel([[say("b1"), gateB, say(`b2 ${longReport}`), done()]]),
		};
		const model = createCallingModel([agentCall("P", { model: "a" }), agentCall("Q", { model: "b" })]);
		const { run, events } = await createSubagentSubject(model, { models });
		const running = run();
		await Promise.all([gateA.reached, gateB.reached]);
		gateB.open();
		gateA.open();
		const { P, Q } = await running;
		const texts = events.flatMap(({ body, agentPath }) =>
			body.type === "content.completed" && body.part.type === "text" && agentPath.length > 0
				? [[agentPath[0]?.agentId, body.part.text]]
				: [],
		);
		expect(new Map(texts.map(([id, text]) => [id, text]))).toEqual(
			new Map([
				[idIn(P), `a1a2 ${longReport}`],
				[idIn(Q), `b1b2 ${longReport}`],
			]),
		);
		expect(texts).toHaveLength(2);
	});
});

describe("approvals of a subagent", () => {
	const asking = () => createCallingModel([agentCall("P")], [say("look"), call("c1", "E"), done()], report);

	it("name it, and follow its call", async () => {
		const { start, client, events, session } = await createSubagentSubject(asking());
		await start();
		const { interaction } = await client.next("interaction.requested");
		const { agentPath } = events.find(({ body }) => body.type === "tool.requested" && body.call.id === "c1") ?? {};
		expect(interaction).toMatchObject({
			kind: "approval",
			toolCallId: "c1",
			agentId: agentPath?.[0]?.agentId,
			subagentType: "coder",
			sourceKind: "foreground_turn",
			sourceId: session.turnId,
		});
		await session.send({ type: "interaction.respond", interactionId: interaction.id, answer: approval });
		while (session.turnId !== null) await new Promise((resolve) => setImmediate(resolve));
	});

	it("when rejected, let it continue, and the session's own turn too", async () => {
		const model = asking();
		const { start, client, session, events } = await createSubagentSubject(model);
		await start();
		const { interaction } = await client.next("interaction.requested");
		await session.send({
			type: "interaction.respond",
			interactionId: interaction.id,
			answer: { ...approval, decision: "reject" },
		});
		while (session.turnId !== null) await new Promise((resolve) => setImmediate(resolve));
		expect(textsOf(model.requests[2]).at(-1)?.[1]).toContain("look for another way");
		expect(model.requests).toHaveLength(4);
		expect(events.at(-1)?.body).toEqual({ type: "turn.ended", outcome: { status: "finished" } });
	});

	it("for the session resolve those of another agent", async () => {
		const models = {
			a: createScriptedModel([[call("c1", "E", '{"n":1}'), done()], report]),
			b: createScriptedModel([[call("c2", "E", '{"n":2}'), done()], report]),
		};
		const model = createCallingModel([agentCall("P", { model: "a" }), agentCall("Q", { model: "b" })]);
		const { start, client, session, events } = await createSubagentSubject(model, { models });
		await start();
		const { interaction } = await client.next("interaction.requested");
		await client.next("interaction.requested");
		const answer = { ...approval, decision: "approve_for_session" } as const;
		await session.send({ type: "interaction.respond", interactionId: interaction.id, answer });
		while (session.turnId !== null) await new Promise((resolve) => setImmediate(resolve));
		const decisions = events.flatMap(({ body }) => (body.type === "interaction.resolved" ? [body.answer] : []));
		expect(decisions).toEqual([answer, approval]);
	});
});

describe("a subagent without a report", () => {
	const failing = (chunk: ReturnType<typeof modelFailure>): ModelScript => [chunk];
	const imagePart = { type: "image_url", image_url: { url: "data:image/png;base64,AA==", id: null } } as const;
	const textless: ModelScript = [parts(imagePart), done()];

	it.each<readonly [string, readonly ModelScript[], string]>([
		["without text", [textless, textless], "Empty agent output"],
		["with a provider's failure", [failing(modelFailure("provider", "no such model"))], "LLM provider error"],
		["with a provider's status", [failing(modelFailure("status", "bad request", 400))], "API error (400)"],
		["with a defect", [failing(modelFailure("defect", "broken"))], "Agent run error"],
		[
			"with a failure when asked again",
			[[say("short"), done()], failing(modelFailure("provider", "gone"))],
			"LLM provider error",
		],
	])("ends %s", async (_name, scripts, brief) => {
		const { run } = await createSubagentSubject(createCallingModel([agentCall("P")], ...scripts));
		const { P } = await run();
		expect(P?.output).toBe("");
		expect(P === undefined ? null : briefOf(P)).toBe(brief);
	});

	it("ends at the step limit", async () => {
		const step: ModelScript = [call("c", "E"), done()];
		const model = createCallingModel([agentCall("P")], step, step);
		const limits = { maxSteps: 2, maxAttempts: 1 };
		const { run } = await createSubagentSubject(model, { tool: createToolDouble("E"), parts: { limits } });
		const { P } = await run();
		expect(P === undefined ? null : briefOf(P)).toBe("Max steps reached");
	});

	it.each([
		["an unknown type", { subagent_type: "poet" }, "Agent failed", "coder, explore, small"],
		["an unknown id", { resume: "a00000000" }, "Agent failed", "a00000000"],
		["an id that is a path", { resume: "../../x" }, "Agent failed", "../../x"],
		["an unknown model", { model: "nope" }, "Invalid model alias", "nope"],
	])("is not started for %s", async (_name, changes, brief, delivered) => {
		const { run, events } = await createSubagentSubject(createCallingModel([agentCall("P", changes)]));
		const { P } = await run();
		expect(P?.is_error === true && P.message).toContain(delivered);
		expect(P === undefined ? null : briefOf(P)).toBe(brief);
		expect(events.filter(({ agentPath }) => agentPath.length > 0)).toEqual([]);
	});

	it.each([29, 3601])("is not started for %s seconds", async (timeout) => {
		const { run } = await createSubagentSubject(createCallingModel([agentCall("P", { timeout })]));
		const { P } = await run();
		expect(P === undefined ? null : briefOf(P)).toBe("Invalid arguments");
	});

	it("ends when its time is over; earlier events are delivered, and the session's turn continues", async () => {
		const gate = createModelGate();
		const model = createCallingModel([agentCall("P", { timeout: 30 })], [say("half"), gate, done()]);
		const { run, clock, events } = await createSubagentSubject(model);
		const running = run();
		await gate.reached;
		clock.advance(29_999);
		clock.advance(1);
		const { P } = await running;
		expect(P === undefined ? null : briefOf(P)).toBe("Agent timed out (30s)");
		expect(events.at(-1)?.body).toEqual({ type: "turn.ended", outcome: { status: "finished" } });
		expect(clock.waiting()).toBe(0);
	});

	it("whose time is over during an approval has it rejected", async () => {
		const model = createCallingModel([agentCall("P", { timeout: 30 })], [call("c1", "E"), done()]);
		const subject = await createSubagentSubject(model);
		const running = subject.run();
		await subject.client.next("interaction.requested");
		subject.clock.advance(30_000);
		const { P } = await running;
		expect(P === undefined ? null : briefOf(P)).toBe("Agent timed out (30s)");
		const answers = subject.events.flatMap(({ body }) => (body.type === "interaction.resolved" ? [body.answer] : []));
		expect(answers).toEqual([{ ...approval, decision: "reject" }]);
	});

	it("has reported in time even if a later hook takes longer", async () => {
		const gate = createModelGate();
		const model = createCallingModel([agentCall("P", { timeout: 30 })], [say(longReport), gate, done()]);
		const hook = { kind: "client", event: "SubagentStop", matcher: "", timeout: 30, subscriptionId: "s" } as const;
		const subject = await createSubagentSubject(model, { attach: { hooks: [hook] } });
		const { clock, client, session } = subject;
		const running = subject.run();
		await gate.reached;
		clock.advance(28_000);
		gate.open();
		const { interaction } = await client.next("interaction.requested");
		clock.advance(4_000);
		await session.send({
			type: "interaction.respond",
			interactionId: interaction.id,
			answer: { kind: "hook", action: "allow", reason: "" },
		});
		const { P } = await running;
		expect(P?.is_error).toBe(false);
	});
});

describe("hooks around a subagent", () => {
	it("get its type, its prompt and its report, truncated to 500 characters", async () => {
		const prompt = "p".repeat(600);
		const text = "r".repeat(600);
		const model = createCallingModel([agentCall("P", { prompt })], [say(text), done()]);
		const point = (event: "SubagentStart" | "SubagentStop") =>
			({ kind: "client", event, matcher: "", timeout: 30, subscriptionId: event }) as const;
		const hooks = [point("SubagentStart"), point("SubagentStop")];
		const subject = await createSubagentSubject(model, { attach: { hooks } });
		const { client, session } = subject;
		const running = subject.run();
		const interactions = [];
		for (const _ of hooks) {
			const { interaction } = await client.next("interaction.requested");
			interactions.push(interaction);
			await session.send({
				type: "interaction.respond",
				interactionId: interaction.id,
				answer: { kind: "hook", action: "allow", reason: "" },
			});
		}
		await running;
		expect(interactions).toMatchObject([
			{ event: "SubagentStart", target: "coder", input: { agent_name: "coder", prompt: "p".repeat(500) } },
			{ event: "SubagentStop", target: "coder", input: { agent_name: "coder", response: "r".repeat(500) } },
		]);
		const delivered = subject.events.filter(({ body }) => body.type === "hook.triggered");
		expect(delivered.map(({ agentPath }) => agentPath)).toEqual([[], []]);
	});
});

describe("a resumed subagent", () => {
	/** Runs one subagent, then one more turn whose call names it. */
	const runTwice = async (
		changes: Readonly<Record<string, unknown>>,
		first: Readonly<Record<string, unknown>> = {},
		models: Parameters<typeof createSubagentSubject>[1] = {},
	) => {
		// The ids are sequential, which makes the first subagent's known: the turn's id comes before it.
		const id = "a00000002";
		const within = first["model"] === undefined ? [report] : [];
		const turn = (made: ModelChunk): ModelScript[] => [[made, done()], ...within, [say("over"), done()]];
		const again = agentCall("Q", { resume: id, ...changes });
		const model = createScriptedModel([...turn(agentCall("P", first)), ...turn(again)]);
		const subject = await createSubagentSubject(model, models);
		const { P } = await subject.run();
		expect(idIn(P)).toBe(id);
		return { Q: (await subject.run())["Q"], model, id };
	};

	it("has its earlier context and type", async () => {
		const { Q, model, id } = await runTwice(
			{ subagent_type: "coder", prompt: "and now" },
			{ subagent_type: "explore" },
		);
		expect(Q?.output).toBe(
			`agent_id: ${id}\nresumed: true\nrequested_subagent_type: coder\nactual_subagent_type: explore\nstatus: completed\n\n[summary]\n${longReport}`,
		);
		expect(textsOf(model.requests[4])).toEqual([
			["user", "<git-repository>clean</git-repository>\n\ndo it"],
			["assistant", longReport],
			["user", "and now"],
		]);
		expect(model.requests[4]?.systemPrompt).toBe(model.requests[1]?.systemPrompt);
	});

	it("has its earlier model", async () => {
		const small = createScriptedModel([report, report]);
		const { Q } = await runTwice({}, { model: "small" }, { models: { small } });
		expect(Q?.is_error).toBe(false);
		expect(small.requests).toHaveLength(2);
	});

	it("runs once for two concurrent calls", async () => {
		const id = "a00000002";
		const both = [agentCall("Q", { resume: id }), agentCall("R", { resume: id, prompt: "other" })];
		const model = createScriptedModel([
			[agentCall("P"), done()],
			report,
			[say("over"), done()],
			[...both, done()],
			report,
			[say("over"), done()],
		]);
		const inner = await createSessionDouble();
		// As slow as a disk: both calls have started before the first finds the agent.
		const openAgent: typeof inner.stored.openAgent = async (agentId) => {
			for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
			return await inner.stored.openAgent(agentId);
		};
		const double = { ...inner, stored: { ...inner.stored, openAgent } };
		const { run } = await createSubagentSubject(model, { double });
		expect(idIn((await run())["P"])).toBe(id);
		const { Q, R } = await run();
		expect([Q?.is_error, R?.is_error]).toEqual([false, true]);
		expect(R?.message).toBe(`The subagent ${id} is still running.`);
	});

	it("answers calls whose results a crash lost", async () => {
		const model = createCallingModel([agentCall("P", { resume: "a1" })], report);
		const { run, double } = await createSubagentSubject(model);
		const description = {
			id: "a1",
			type: "coder",
			description: "d",
			createdAt: 0,
			modelOverride: null,
			effectiveModel: null,
		};
		const stored = await double.stored.createAgent(description);
		const toolCall = { type: "function", id: "c1", function: { name: "E", arguments: "{}" }, extras: null } as const;
		await stored.changeContext({
			kind: "append",
			rows: [
				{ type: "system-prompt", content: "Old." },
				{ type: "message", message: { role: "user", content: [{ type: "text", text: "first" }] } },
				{ type: "message", message: { role: "assistant", content: [], toolCalls: [toolCall] } },
			],
		});
		await run();
		expect(model.requests[1]?.systemPrompt).toBe("Old.");
		expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
	});
});

describe("concurrent subagents", () => {
	it("wait for a slot above the limit", async () => {
		const gate = createModelGate();
		const models = {
			a: createScriptedModel([[gate, say(longReport), done()]]),
			b: createReportingModel(),
		};
		const model = createCallingModel([agentCall("P", { model: "a" }), agentCall("Q", { model: "b" })]);
		const { run } = await createSubagentSubject(model, { models, parallel: 1 });
		const running = run();
		await gate.reached;
		for (let n = 0; n < 10; n += 1) await new Promise((resolve) => setImmediate(resolve));
		expect(models.b.requests).toEqual([]);
		gate.open();
		const { P, Q } = await running;
		expect([P?.is_error, Q?.is_error]).toEqual([false, false]);
	});

	it("that wait are not started when the turn is cancelled", async () => {
		const gate = createModelGate();
		const models = { a: createScriptedModel([[gate, done()]]), b: createReportingModel() };
		const model = createCallingModel([agentCall("P", { model: "a" }), agentCall("Q", { model: "b" })]);
		const { run, session, events } = await createSubagentSubject(model, { models, parallel: 1 });
		const running = run();
		await gate.reached;
		await session.send({ type: "turn.cancel" });
		expect(await running).toEqual({});
		expect(models.b.requests).toEqual([]);
		expect(events.slice(-2).map(({ body, agentPath }) => [body.type, agentPath.length])).toEqual([
			["step.interrupted", 0],
			["turn.ended", 0],
		]);
		expect(events.filter(({ body, agentPath }) => body.type === "turn.ended" && agentPath.length === 1)).toHaveLength(
			1,
		);
	});
});

describe("the stored files of a subagent", () => {
	/** A session that records what is written for its subagents, and fails the given write. */
	const createNotingDouble = async (fails: keyof StoredAgent | null = null) => {
		const double = await createSessionDouble();
		const persisted: unknown[] = [];
		const note = async (name: keyof StoredAgent, ...values: readonly unknown[]) => {
			if (name === fails) throw storageFailure;
			persisted.push([name, ...values]);
		};
		const createAgentNoting = async (description: AgentDescription): Promise<StoredAgent> => {
			const agent = await double.stored.createAgent(description);
			return {
				...agent,
				begin: (prompt) => note("begin", prompt),
				setStatus: (status) => note("setStatus", status),
				appendOutput: (text) => note("appendOutput", text),
				appendEvents: (events) => note("appendEvents", ...events.map(({ body }) => body.type)),
				async changeContext(change) {
					await note("changeContext");
					await agent.changeContext(change);
				},
			};
		};
		const stored = { ...double.stored, createAgent: createAgentNoting };
		const only = (...names: readonly string[]) =>
			persisted.filter((entry) => names.some((name) => String(entry).startsWith(name)));
		return { double: { ...double, stored }, only };
	};
	const failure: ModelScript = [modelFailure("provider", "no credit")];

	it("are its prompt, its events, its report and its end", async () => {
		const { double, only } = await createNotingDouble();
		const { run } = await createSubagentSubject(createCallingModel([agentCall("P")], report), { double });
		await run();
		expect(only("begin", "setStatus", "appendOutput", "appendEvents")).toEqual([
			["begin", "do it"],
			["appendEvents", "turn.started"],
			["appendEvents", "step.started"],
			["appendEvents", "content.completed", "status.changed"],
			["appendEvents", "turn.ended"],
			["appendOutput", `${longReport}\n`],
			["setStatus", "idle"],
		]);
	});

	it("record that it failed, and why", async () => {
		const { double, only } = await createNotingDouble();
		const { run } = await createSubagentSubject(createCallingModel([agentCall("P")], failure), { double });
		await run();
		expect(only("setStatus")).toEqual([["setStatus", "failed"]]);
		expect(String(only("appendOutput"))).toContain("no credit");
	});

	it("record that it was killed", async () => {
		const { double, only } = await createNotingDouble();
		const gate = createModelGate();
		const { run, session } = await createSubagentSubject(createCallingModel([agentCall("P")], [gate]), { double });
		const running = run();
		await gate.reached;
		await session.send({ type: "turn.cancel" });
		await running;
		expect(only("setStatus")).toEqual([["setStatus", "killed"]]);
	});

	it("record that it failed when it could not be created", async () => {
		const { double, only } = await createNotingDouble();
		const model = createCallingModel([agentCall("P")]);
		const { session, ...subject } = await createSubagentSubject(model, {
			double,
			parts: {
				subagents: {
					types: subagentTypes,
					createTools: () => {
						throw new Error("no tools today");
					},
					findModel: async () => null,
					describeRepository: async () => "",
					parallel: 1,
				},
			},
		});
		const { P } = await subject.run();
		expect(P?.message).toContain("no tools today");
		expect(only("setStatus")).toEqual([["setStatus", "failed"]]);
		expect(session.turnId).toBeNull();
	});

	it.each(["begin", "changeContext", "appendEvents", "appendOutput", "setStatus"] as const)(
		"end the turn when %s fails, and nothing of it is delivered afterwards",
		async (fails) => {
			const { double } = await createNotingDouble(fails);
			const { run, events } = await createSubagentSubject(createCallingModel([agentCall("P")], report), { double });
			expect(await run()).toEqual({});
			expect(events.at(-1)?.body).toMatchObject({
				type: "turn.ended",
				outcome: { status: "failed", error: { code: "storage-failed", message: storageFailure.message } },
			});
			expect(events.at(-1)?.agentPath).toEqual([]);
		},
	);
});
