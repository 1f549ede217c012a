// The hooks of prompts and stops inside subagents: they run as for the session's own agent (agent-kernel §12.3).
import { describe, expect, it } from "vitest";
import { briefOf } from "../../../test/support/host/tool-environment.ts";
import {
	createModelGate,
	createScriptedModel,
	done,
	type ModelScript,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { untilTasksEnd } from "../../../test/support/sessions/background-work.ts";
import {
	agentCall,
	createCallingModel,
	createSubagentSubject,
	longReport,
	type SubagentOptions,
} from "../../../test/support/sessions/subagent-subject.ts";
import { createSessionDouble } from "../../../test/support/store/failing-session.ts";
import type { ToolReturn } from "../../api/values/content.ts";
import type { ClientHook } from "../../api/values/hooks/hook.ts";
import type { HookEvent } from "../../api/values/hooks/hook-event.ts";
import type { Interaction } from "../../api/values/interaction.ts";
import { type Model, type ModelRequest, modelFailure } from "../../core/models/model.ts";
import type { Processes } from "../../ports/processes/port.ts";

type HookInteraction = Extract<Interaction, { kind: "hook" }>;

const report: ModelScript = [say(longReport), done()];
const briefIn = (result: ToolReturn | undefined) => (result === undefined ? null : briefOf(result));
const allow = { action: "allow", reason: "" } as const;
const block = (reason: string) => ({ action: "block", reason }) as const;
type Decision = typeof allow | ReturnType<typeof block>;

const on = (event: HookEvent, matcher = ""): ClientHook => ({
	kind: "client",
	event,
	matcher,
	timeout: 30,
	subscriptionId: event,
});

const textsOf = (request: ModelRequest | undefined) =>
	(request?.messages ?? []).map(({ role, content }) => [
		role,
		content.map((part) => (part.type === "text" ? part.text : part.type)).join("|"),
	]);

/** A session whose client answers each hook at once; its requests are recorded. */
async function createSubject(
	model: Model,
	hooks: readonly ClientHook[],
	decide: (interaction: HookInteraction) => Decision | null,
	options: SubagentOptions = {},
) {
	const subject = await createSubagentSubject(model, { attach: { hooks }, ...options });
	const interactions: HookInteraction[] = [];
	const { onEvent } = subject.client;
	subject.client.onEvent = (event) => {
		onEvent(event);
		const { body } = event;
		if (body.type !== "interaction.requested" || body.interaction.kind !== "hook") return;
		interactions.push(body.interaction);
		const decision = decide(body.interaction);
		if (decision === null) return;
		void subject.session.send({
			type: "interaction.respond",
			interactionId: body.interaction.id,
			answer: { kind: "hook", ...decision },
		});
	};
	const inside = () =>
		subject.events.flatMap(({ body, agentPath }) =>
			agentPath.length > 0 && !body.type.startsWith("interaction.") ? [body] : [],
		);
	return { ...subject, interactions, inside };
}

/** Blocks the prompts of subagents, but not the person's own. */
const guard = on("UserPromptSubmit", "^do it");

describe("a hook before the prompt of a subagent", () => {
	it("runs with the prompt as target, before its turn begins", async () => {
		const { run, interactions, inside } = await createSubject(
			createCallingModel([agentCall("P")], report),
			[guard],
			() => allow,
		);
		expect((await run())["P"]?.is_error).toBe(false);
		expect(interactions).toMatchObject([{ event: "UserPromptSubmit", target: "do it", input: { prompt: "do it" } }]);
		expect(inside().map(({ type }) => type)).toEqual([
			"hook.triggered",
			"hook.resolved",
			"turn.started",
			"step.started",
			"content.delta",
			"content.completed",
			"status.changed",
			"turn.ended",
		]);
		expect(inside()[0]).toEqual({
			type: "hook.triggered",
			event: "UserPromptSubmit",
			target: "do it",
			hook_count: 1,
		});
	});

	it("withholds a blocked prompt from the model, and the result reports the block", async () => {
		const model = createCallingModel([agentCall("P")]);
		const { run, inside } = await createSubject(model, [guard], () => block("Keep it."));
		const { P } = await run();
		expect([P?.is_error, P?.output, briefIn(P)]).toEqual([true, "", "Hook blocked"]);
		expect(P?.message).toMatch(/^A hook blocked the prompt of the subagent a[0-9a-f]{8}.*Keep it\.$/);
		// The session's own two requests, and none of the subagent's.
		expect(model.requests.map((request) => textsOf(request)[0])).toEqual([
			["user", "go"],
			["user", "go"],
		]);
		expect(inside().map((body) => [body.type, body.type === "hook.resolved" ? body.action : null])).toEqual([
			["hook.triggered", null],
			["hook.resolved", "block"],
			["turn.started", null],
			["content.delta", null],
			["content.completed", null],
			["turn.ended", null],
		]);
		expect(inside()[4]).toEqual({ type: "content.completed", part: { type: "text", text: "Keep it." } });
	});

	it("can block without a reason", async () => {
		const { run, inside } = await createSubject(createCallingModel([agentCall("P")]), [guard], () => block(""));
		expect((await run())["P"]?.message).toMatch(/^A hook blocked the prompt of the subagent a[0-9a-f]{8}[^:]*\.$/);
		expect(inside()[4]).toMatchObject({ part: { text: "Prompt blocked by hook." } });
	});

	it("can come from the settings: exit code 2 blocks", async () => {
		const inputs: string[] = [];
		const processes: Processes = {
			endAll: async () => {},
			run: async ({ input = "" }) => {
				inputs.push(String(input));
				return {
					ended: { kind: "exited", exitCode: 2 },
					output: "",
					errorOutput: "not today\n",
					outputBytes: 0,
					truncated: false,
					spilledTo: null,
				};
			},
		};
		const command = {
			kind: "command",
			event: "UserPromptSubmit",
			matcher: "^do it",
			command: "guard",
			timeout: 5,
			failClosed: false,
		} as const;
		const model = createCallingModel([agentCall("P")]);
		const { run } = await createSubagentSubject(model, {
			parts: {
				hooks: [command],
				hookPlace: {
					environment: {},
					processes,
					fetch: () => Promise.reject(new Error("no network")),
					sessionHooks: [],
				},
			},
		});
		const { P } = await run();
		expect([briefIn(P), P?.message]).toEqual(["Hook blocked", expect.stringContaining("not today")]);
		expect(inputs.map((input) => JSON.parse(input))).toMatchObject([
			{ hook_event_name: "UserPromptSubmit", prompt: "do it" },
		]);
		expect(model.requests).toHaveLength(2);
	});

	it("gets the prompt with the description of the repository", async () => {
		const model = createCallingModel([agentCall("P", { subagent_type: "explore" })], report);
		const { run, interactions } = await createSubject(model, [on("UserPromptSubmit", "do it$")], () => allow);
		await run();
		expect(interactions.map(({ target }) => target)).toEqual(["<git-repository>clean</git-repository>\n\ndo it"]);
	});

	it("does not run for the program's request for a longer report", async () => {
		const model = createCallingModel([agentCall("P")], [say("Done."), done()], report);
		const { run, interactions } = await createSubject(model, [on("UserPromptSubmit")], () => allow);
		await run();
		expect(interactions.map(({ target }) => target)).toEqual(["go", "do it"]);
	});

	it("gets the prompt of a resumed subagent, which a block leaves unchanged", async () => {
		const id = "a00000002";
		const model = createScriptedModel([
			[agentCall("P"), done()],
			report,
			[say("over"), done()],
			[agentCall("Q", { resume: id, prompt: "do it again" }), done()],
			[say("over"), done()],
			[agentCall("R", { resume: id, prompt: "and now" }), done()],
			report,
			[say("over"), done()],
		]);
		const { run } = await createSubject(model, [on("UserPromptSubmit", "again")], () => block("No."));
		expect((await run())["P"]?.output).toContain(id);
		expect(briefIn((await run())["Q"])).toBe("Hook blocked");
		expect((await run())["R"]?.is_error).toBe(false);
		expect(textsOf(model.requests[6]).map(([, text]) => text)).toEqual(["do it", longReport, "and now"]);
	});

	it("prevents the hook at its end", async () => {
		const hooks = [guard, on("Stop"), on("SubagentStart"), on("SubagentStop")];
		const model = createCallingModel([agentCall("P")]);
		const { run, interactions } = await createSubject(model, hooks, ({ event }) =>
			event === "UserPromptSubmit" ? block("No.") : allow,
		);
		await run();
		// The last is the session's own.
		expect(interactions.map(({ event }) => event)).toEqual(["SubagentStart", "UserPromptSubmit", "Stop"]);
	});

	it("ends with a cancel", async () => {
		const model = createCallingModel([agentCall("P")]);
		const { run, session, client } = await createSubject(model, [guard], () => null);
		const running = run();
		await client.next("interaction.requested");
		await session.send({ type: "turn.cancel" });
		expect(await running).toEqual({});
		expect(model.requests).toHaveLength(1);
	});

	it("stores a block as a failure, with its reason as the output", async () => {
		const double = await createSessionDouble();
		const written: string[] = [];
		const createAgent = double.stored.createAgent.bind(double.stored);
		const noting: typeof createAgent = async (description) => {
			const agent = await createAgent(description);
			return {
				...agent,
				setStatus: async (status) => void written.push(status),
				appendOutput: async (text) => void written.push(text),
			};
		};
		const stored = { ...double.stored, createAgent: noting };
		const model = createCallingModel([agentCall("P")]);
		const { run } = await createSubject(model, [guard], () => block("Keep it."), { double: { ...double, stored } });
		const { P } = await run();
		expect(written).toEqual([`${P?.message}\n`, "failed"]);
	});
});

describe("a hook after the work of a subagent", () => {
	it("makes it continue once, with the reason as input, within the same turn", async () => {
		const better = `Better. ${longReport}`;
		const model = createCallingModel([agentCall("P")], report, [say(better), done()]);
		let stops = 0;
		const { run, interactions, inside } = await createSubject(model, [on("Stop")], () => {
			stops += 1;
			return stops === 1 ? block("Look again.") : allow;
		});
		expect((await run())["P"]?.output).toContain(`[summary]\n${better}`);
		// The subagent's, then the session's own.
		expect(interactions).toMatchObject([
			{ event: "Stop", target: "", input: { stop_hook_active: false } },
			{ event: "Stop", target: "" },
		]);
		expect(textsOf(model.requests[2])).toEqual([
			["user", "do it"],
			["assistant", longReport],
			["user", "Look again."],
		]);
		const types = inside().map(({ type }) => type);
		expect(types.filter((type) => type === "turn.started" || type === "turn.ended")).toEqual([
			"turn.started",
			"turn.ended",
		]);
		expect(types.slice(types.indexOf("hook.triggered"), types.indexOf("hook.triggered") + 3)).toEqual([
			"hook.triggered",
			"hook.resolved",
			"step.started",
		]);
		expect(types.at(-1)).toBe("turn.ended");
	});

	it("lets it end when it blocks without a reason", async () => {
		const model = createCallingModel([agentCall("P")], report);
		const { run } = await createSubject(model, [on("Stop")], () => block(""));
		expect((await run())["P"]?.is_error).toBe(false);
		expect(model.requests).toHaveLength(3);
	});

	it("does not run after failed work", async () => {
		const model = createCallingModel([agentCall("P")], [modelFailure("status", "no credit", 402)]);
		const { run, interactions } = await createSubject(model, [on("Stop")], () => allow);
		await run();
		expect(interactions).toHaveLength(1);
	});

	it("ends with a cancel", async () => {
		const model = createCallingModel([agentCall("P")], report);
		const { run, session, client } = await createSubject(model, [on("Stop")], () => null);
		const running = run();
		await client.next("interaction.requested");
		await session.send({ type: "turn.cancel" });
		expect(await running).toEqual({});
		expect(client.bodies.at(-1)).toEqual({ type: "turn.ended", outcome: { status: "cancelled" } });
		expect(model.requests).toHaveLength(2);
	});

	it("does not invalidate a report that was in time", async () => {
		const model = createCallingModel([agentCall("P", { timeout: 30 })], report);
		let stops = 0;
		const { run, clock, client } = await createSubject(model, [on("Stop")], () => {
			stops += 1;
			return stops === 1 ? null : allow;
		});
		const running = run();
		await client.next("interaction.requested");
		clock.advance(29_999);
		clock.advance(1);
		expect((await running)["P"]?.output).toContain(longReport);
	});

	it("leaves the remaining time for the continuation", async () => {
		const gate = createModelGate();
		const model = createCallingModel([agentCall("P", { timeout: 30 })], report, [gate]);
		const { run, clock } = await createSubject(model, [on("Stop")], () => block("Look again."));
		const running = run();
		await gate.reached;
		clock.advance(30_000);
		expect(briefIn((await running)["P"])).toBe("Agent timed out (30s)");
	});
});

describe("the hooks of a subagent in the background", () => {
	const inBackground = agentCall("P", { subagent_type: "small", run_in_background: true });
	const background = async (
		small: Model,
		hooks: readonly ClientHook[],
		decide: (interaction: HookInteraction) => Decision,
	) => {
		const model = createScriptedModel([
			[inBackground, done()],
			[say("started"), done()],
			[say("looked again"), done()],
		]);
		const subject = await createSubject(model, hooks, decide, { models: { small } });
		await subject.run();
		await untilTasksEnd(subject.session);
		const [task] = await subject.double.stored.tasks.list();
		return { ...subject, runtime: await task?.runtime(), output: String((await task?.outputTail(10_000))?.bytes) };
	};

	it("withhold a blocked prompt from its model: the task fails with the reason", async () => {
		const small = createScriptedModel([report]);
		const { runtime, output, interactions, events } = await background(small, [guard], () => block("Keep it."));
		expect(interactions).toMatchObject([{ event: "UserPromptSubmit", target: "do it" }]);
		expect(small.requests).toEqual([]);
		expect(runtime).toMatchObject({ status: "failed", failureReason: expect.stringContaining("Keep it.") });
		expect(output).toContain("Keep it.");
		expect(events.filter(({ body }) => body.type.startsWith("hook."))).toEqual([]);
	});

	it("make it continue", async () => {
		const small = createScriptedModel([report, [say(`Better. ${longReport}`), done()]]);
		let stops = 0;
		const { runtime, output } = await background(small, [on("Stop")], () => {
			stops += 1;
			return stops <= 2 ? block("Look again.") : allow;
		});
		expect(small.requests.length).toBeGreaterThan(1);
		expect([runtime?.status, output]).toEqual(["completed", expect.stringContaining("Better.")]);
	});
});
