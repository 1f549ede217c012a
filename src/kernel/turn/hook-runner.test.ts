import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import type { EventBody } from "../../api/values/event.ts";
import type { ClientHook, CommandHook } from "../../api/values/hooks/hook.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { HookPoint } from "../../core/hooks/hook.ts";
import type { Processes, RunRequest } from "../../ports/processes/port.ts";
import { InteractionTable } from "../interactions/interaction-table.ts";
import { type HookClients, HookRunner } from "./hook-runner.ts";

const point: HookPoint = { event: "PreToolUse", target: "Shell", input: { tool_name: "Shell" } };
const live = new AbortController().signal;

const command = (text: string): CommandHook => ({
	kind: "command",
	event: "PreToolUse",
	matcher: "",
	timeout: 30,
	command: text,
	failClosed: false,
});
const subscription = (subscriptionId: string, changes: Partial<ClientHook> = {}): ClientHook => ({
	kind: "client",
	event: "PreToolUse",
	matcher: "",
	timeout: 30,
	subscriptionId,
	...changes,
});

/** Children that end when a test says so, with exit code 2 and this reason, or without one with exit code 0. */
function createHeldProcesses() {
	const requests: RunRequest[] = [];
	const ends: Deferred<string | null>[] = [];
	const processes: Processes = {
		async run(request) {
			requests.push(request);
			const end = createDeferred<string | null>();
			ends.push(end);
			const reason = await end.promise;
			const ended = { kind: "exited", exitCode: reason === null ? 0 : 2 } as const;
			return { ended, output: "", errorOutput: reason ?? "", outputBytes: 0, truncated: false, spilledTo: null };
		},
		endAll: async () => {},
	};
	return { processes, requests, ends };
}

function createSubject(commands: readonly CommandHook[], clients: HookClients) {
	const clock = createFakeClock();
	const interactions = new InteractionTable({ approval: 0, question: 0, "client-tool": 0 }, clock, () => []);
	const held = createHeldProcesses();
	const delivered: EventBody[] = [];
	let ids = 0;
	const runner = new HookRunner(
		{
			commands,
			sessionId: "S",
			workDir: "/work",
			environment: {},
			processes: held.processes,
			fetch: () => Promise.reject(new Error("no network")),
			sessionHooks: [],
			interactions,
			identifiers: { uuid: () => "U", hex: (length) => `${++ids}`.padStart(length, "0") },
			clock,
			log: silentLog,
		},
		() => clients,
	);
	const emit = async (body: EventBody) => void delivered.push(body);
	return { ...held, clock, interactions, delivered, emit, runner };
}

const answer = (action: "allow" | "block", reason = "") => ({ kind: "hook", action, reason }) as const;
const id = (n: number) => `${n}`.padStart(12, "0");
/** Lets all pending work continue. */
const rest = () => new Promise<void>((resolve) => setImmediate(resolve));

const person = { kind: "client", clientId: null, name: null } as const;

describe("HookRunner", () => {
	it("emits a batch, requests the client's answer, and emits the decision with its duration", async () => {
		const { runner, emit, delivered, interactions, clock } = createSubject([], {
			hooks: [subscription("s1")],
			areAnnounced: true,
		});
		const run = runner.run(point, emit, live);
		await rest();
		const interaction = {
			kind: "hook",
			id: id(1),
			subscriptionId: "s1",
			event: "PreToolUse",
			target: "Shell",
			input: { hook_event_name: "PreToolUse", session_id: "S", cwd: "/work", tool_name: "Shell" },
		};
		expect(delivered).toEqual([
			{ type: "hook.triggered", event: "PreToolUse", target: "Shell", hook_count: 1 },
			{ type: "interaction.requested", interaction },
		]);
		clock.advance(3);
		interactions.answer(id(1), answer("block", "no"), person);
		expect(await run).toEqual({ action: "block", reason: "no" });
		expect(delivered.slice(2)).toEqual([
			{ type: "interaction.resolved", interactionId: id(1), answer: answer("block", "no"), by: person },
			{ type: "hook.resolved", event: "PreToolUse", target: "Shell", action: "block", reason: "no", duration_ms: 3 },
		]);
	});

	it("runs a batch in parallel; the first block in the order of the hooks gives the reason", async () => {
		const { runner, emit, delivered, interactions, ends, requests } = createSubject(
			[command("a"), command("b"), command("a")],
			{
				hooks: [subscription("s1")],
				areAnnounced: true,
			},
		);
		const run = runner.run(point, emit, live);
		await rest();
		expect(requests.map(({ arguments: words }) => words)).toEqual([
			["-c", "a"],
			["-c", "b"],
		]);
		expect(delivered[0]).toMatchObject({ hook_count: 3 });
		interactions.answer(id(1), answer("block", "third"), person);
		ends[1]?.resolve("second");
		await rest();
		expect(delivered.some(({ type }) => type === "hook.resolved")).toBe(false);
		ends[0]?.resolve(null);
		expect(await run).toEqual({ action: "block", reason: "second" });
	});

	it("allows at once and emits nothing when no hook matches", async () => {
		const { runner, emit, delivered } = createSubject([command("a")], { hooks: [], areAnnounced: true });
		expect(await runner.run({ ...point, event: "Stop", target: "" }, emit, live)).toEqual({
			action: "allow",
			reason: "",
		});
		expect(delivered).toEqual([]);
	});

	it("runs commands without events before a handshake", async () => {
		const { runner, emit, delivered, ends } = createSubject([command("a")], { hooks: [], areAnnounced: false });
		const run = runner.run(point, emit, live);
		await rest();
		ends[0]?.resolve("no");
		expect(await run).toEqual({ action: "block", reason: "no" });
		expect(delivered).toEqual([]);
	});

	it("requests no client hook outside of its events", async () => {
		const { runner, ends } = createSubject([command("a")], { hooks: [subscription("s1")], areAnnounced: true });
		const run = runner.run(point, null, live);
		await rest();
		ends[0]?.resolve(null);
		expect(await run).toEqual({ action: "allow", reason: "" });
	});

	it.each([
		["an error reply", { kind: "error-reply", message: "no" }],
		["a malformed answer", { kind: "malformed" }],
		["an answer to another kind of request", { kind: "question", answers: {} }],
	] as const)("treats %s as allow", async (_name, given) => {
		const { runner, emit, interactions } = createSubject([], { hooks: [subscription("s1")], areAnnounced: true });
		const run = runner.run(point, emit, live);
		await rest();
		interactions.answer(id(1), given, person);
		expect(await run).toEqual({ action: "allow", reason: "" });
	});

	it("ignores the reason of an allowing answer", async () => {
		const { runner, emit, interactions } = createSubject([], { hooks: [subscription("s1")], areAnnounced: true });
		const run = runner.run(point, emit, live);
		await rest();
		interactions.answer(id(1), answer("allow", "because"), person);
		expect(await run).toEqual({ action: "allow", reason: "" });
	});

	it("allows at the deadline of the subscription, and ignores later answers", async () => {
		const { runner, emit, interactions, clock } = createSubject([], {
			hooks: [subscription("s1", { timeout: 5 }), subscription("s2")],
			areAnnounced: true,
		});
		const run = runner.run(point, emit, live);
		await rest();
		clock.advance(5000);
		expect(interactions.answer(id(1), answer("block", "late"), person)).toBe(false);
		expect(interactions.answer(id(2), answer("allow"), person)).toBe(true);
		expect(await run).toEqual({ action: "allow", reason: "" });
	});

	it.each([[0], [-5]])("limits the wait: a timeout of %d s is one second", async (timeout) => {
		const { runner, emit, clock } = createSubject([], { hooks: [subscription("s1", { timeout })], areAnnounced: true });
		const run = runner.run(point, emit, live);
		await rest();
		expect(clock.waiting()).toBe(1);
		clock.advance(1000);
		expect(await run).toEqual({ action: "allow", reason: "" });
	});

	it.each([["cancelled"], ["client-gone"], ["shutdown"]])("allows when it is %s", async (why) => {
		const controller = new AbortController();
		const { runner, emit, interactions, delivered } = createSubject([], {
			hooks: [subscription("s1")],
			areAnnounced: true,
		});
		const run = runner.run(point, emit, controller.signal);
		await rest();
		if (why === "cancelled") controller.abort();
		else if (why === "shutdown") interactions.settleAll();
		else interactions.clientGone();
		expect(await run).toEqual({ action: "allow", reason: "" });
		expect(delivered.at(-1)).toMatchObject({ type: "hook.resolved", action: "allow" });
	});
});
