// The kernel API as every front end has it, wherever the kernel is: sessions are created, acquired, used and listed, and
// errors say the same.
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/events/event.ts";
import type { ClientHook } from "../../src/hooks/hook.ts";
import type { CreationOptions, SessionApi, SessionsApi } from "../../src/kernel/api.ts";
import { plainRequest } from "../../src/kernel/hosting/hosted-options.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { attachReader, readJournal } from "../support/protocol/event-reader.ts";
import { plainAttachment } from "../support/sessions/session-doubles.ts";
import { createHost, type HostSettings, runTurn } from "../support/sessions/session-host.ts";

/** The way of a front end to the sessions of a kernel. */
export type ReachSessions = (sessions: SessionsApi) => Promise<SessionsApi>;

const unknownId = "01936f8a-7b2c-7000-8000-000000000001";
const withTools: CreationOptions = { ...plainRequest, tools: "all" };

const hook: ClientHook = {
	kind: "client",
	event: "UserPromptSubmit",
	matcher: "",
	timeout: 30,
	subscriptionId: "mine",
};

/** A client whose hook is not answered: turns wait for it. */
const attachHolding = (session: SessionApi) => attachReader(session, { hooks: [hook] });

export function describeSessions(name: string, reach: ReachSessions): void {
	const createSubject = async (limits: object = {}, settings: HostSettings = {}) => {
		const subject = await createHost(limits, settings);
		return { ...subject, sessions: await reach(subject.host) };
	};
	const list = async (events: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> => {
		const all: AgentEvent[] = [];
		for await (const event of events) all.push(event);
		return all;
	};

	describe(`${name}: the sessions of a kernel`, () => {
		it("are created with options and acquired by their ids", async () => {
			const { sessions } = await createSubject();
			const created = await sessions.create({ ...plainRequest, workDir: "/other" });
			const { id } = created.session;
			expect(created.session.workDir).toBe("/other");
			expect(created.info).toEqual({ id, workDir: "/other", model: "echo", provider: "p", isRunning: false });
			const acquired = await sessions.acquire(id);
			expect(acquired.session).toBe(created.session);
			created.release();
			expect((await sessions.acquire(id)).session).toBe(created.session);
			expect(await sessions.loaded()).toEqual([created.info]);
		});

		it("pass on why they cannot be created or acquired", async () => {
			const { sessions } = await createSubject({ loaded_sessions: 1 });
			await expect(sessions.acquire(unknownId)).rejects.toMatchObject({
				name: "KernelError",
				code: "session-not-found",
				message: expect.stringContaining(unknownId),
			});
			await expect(sessions.create({ ...plainRequest, model: "none" })).rejects.toMatchObject({
				code: "model-not-set",
			});
			await expect(sessions.create({ ...plainRequest, workDir: "x" })).rejects.toMatchObject({ code: "invalid-input" });
			await sessions.create(plainRequest);
			await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "overloaded", data: { limit: 1 } });
		});

		it("may be unloaded as soon as everybody has released them", async () => {
			const { sessions } = await createSubject({ loaded_sessions: 1 });
			const one = await sessions.create(plainRequest);
			const again = await sessions.acquire(one.session.id);
			one.release();
			await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "overloaded" });
			again.release();
			await sessions.create(plainRequest);
		});

		it("run turns, whose events reach the client in order and are stored", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { session } = handle;
			const client = await attachReader(session, { called: "one" });
			const { turnId } = await handle.startTurn("text: hello\nthink: why\ntext: again");
			await client.event("turn.ended");
			expect(client.events.every((event) => event.turnId === turnId)).toBe(true);
			expect(client.types()).toContain("content.delta");
			expect(await list(session.events())).toEqual(client.events.filter(({ seq }) => seq !== undefined));
			expect((await session.conversation()).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
		});

		it("have stored events after a cursor, and none for a cursor of another history", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			await runTurn(handle);
			const { session } = handle;
			const { cursor } = await session.snapshot();
			const all = await readJournal(session);
			expect(all).toHaveLength(cursor.seq);
			expect(await list(session.events({ ...cursor, seq: 2 }))).toEqual(all.slice(2));
			expect(await list(session.events(cursor))).toEqual([]);
			const older = async () => await list(session.events({ epoch: "older", seq: 1 }));
			await expect(older()).rejects.toMatchObject({ code: "invalid-input" });
		});

		it("describe themselves", async () => {
			const hooks = [{ event: "Stop", command: "look", matcher: "x", timeout: 5 }];
			const { sessions } = await createSubject({}, { hooks });
			const { session } = await sessions.create(withTools);
			const { slashCommands, commandHooks } = await session.description();
			expect(slashCommands.map(({ name: command }) => command)).toContain("compact");
			expect(commandHooks).toEqual([
				{ kind: "command", event: "Stop", command: "look", matcher: "x", timeout: 5, failClosed: false },
			]);
			const client = { name: "mine", version: "1" };
			const attachment = await session.attach({ ...plainAttachment, client });
			const { cursor, ...snapshot } = await session.snapshot();
			expect(snapshot).toEqual({
				sessionId: session.id,
				workDir: "/work",
				turnId: null,
				hasHistory: false,
				planMode: false,
				approvesEverything: false,
				isAway: false,
				title: null,
				openInteractions: [],
				unfinished: [],
				clients: [{ clientId: attachment.id, ...client }],
			});
			expect(cursor.seq).toBe(0);
		});

		it("say which tools of a client they take, and which not and why", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(withTools);
			const declare = (tool: string) => ({ name: tool, description: "", parameters: { type: "object" } });
			const { tools } = await session.attach({ ...plainAttachment, tools: [declare("mine"), declare("ReadFile")] });
			expect(tools).toEqual({
				accepted: ["mine"],
				rejected: [{ name: "ReadFile", reason: "conflicts with builtin tool" }],
			});
		});

		it("refuse commands with the kernel's errors", async () => {
			const { sessions } = await createSubject({ running_turns: 1 });
			const one = await sessions.create(plainRequest);
			const two = await sessions.create(plainRequest);
			await expect(one.session.send({ type: "turn.cancel" })).rejects.toMatchObject({ code: "no-turn" });
			await expect(one.session.send({ type: "plan-mode.set", enabled: true })).rejects.toMatchObject({
				code: "unsupported",
			});
			await attachHolding(one.session);
			await one.startTurn("text: hello");
			await expect(two.startTurn("x")).rejects.toMatchObject({ code: "overloaded", data: { limit: 1 } });
			await expect(one.startTurn("x")).rejects.toMatchObject({ code: "busy" });
		});

		it("are interrupted, archived and discarded", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { id } = handle.session;
			expect(await sessions.interrupt(id)).toBe(false);
			await attachHolding(handle.session);
			await handle.startTurn("text: hello");
			expect(await sessions.interrupt(id)).toBe(true);
			await sessions.archive(id);
			await expect(sessions.acquire(id)).rejects.toMatchObject({ code: "session-not-found" });
			const other = await sessions.create(plainRequest);
			await other.discard();
			expect(await sessions.loaded()).toEqual([]);
		});

		it("are listed in pages, those of earlier processes too", async () => {
			const store = createMemoryStore();
			const { sessions: earlier } = await createSubject({}, { store });
			const ids: string[] = [];
			for (const workDir of ["/work", "/other", "/work"]) {
				const handle = await earlier.create({ ...plainRequest, workDir });
				await runTurn(handle);
				ids.push(handle.session.id);
			}
			await earlier.stop();
			const { sessions } = await createSubject({}, { store });
			const { sessions: all, next } = await sessions.list({});
			expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort());
			expect(next).toBeNull();
			expect((await sessions.list({ workDir: "/other" })).sessions).toMatchObject([{ id: ids[1], workDir: "/other" }]);
			const first = await sessions.list({ limit: 2 });
			const second = await sessions.list({ limit: 2, ...(first.next === null ? {} : { after: first.next }) });
			expect([...first.sessions, ...second.sessions]).toEqual(all);
			await expect(sessions.list({ after: "nonsense" })).rejects.toMatchObject({ code: "invalid-input" });
		});

		it("are found later when they were established, although nothing has happened", async () => {
			const store = createMemoryStore();
			const { sessions: earlier } = await createSubject({}, { store });
			const { session } = await earlier.create(plainRequest);
			await session.establish();
			await earlier.stop();
			const { sessions } = await createSubject({}, { store });
			expect((await sessions.acquire(session.id)).session.id).toBe(session.id);
		});

		it("have background tasks, for whose end nobody has to wait", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(withTools);
			expect(await session.backgroundTasks()).toEqual([]);
			expect(await session.hasBackgroundNews()).toBe(false);
			await session.endBackgroundTasks();
			const aborting = new AbortController();
			const waiting = session.backgroundTaskEnded(aborting.signal);
			aborting.abort();
			await waiting;
			await session.backgroundTaskEnded(aborting.signal);
		});

		it("end a turn after an uncaught exception, and go on", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const client = await attachReader(handle.session);
			const holding = await attachHolding(handle.session);
			await handle.startTurn("text: hello");
			await client.event("interaction.requested");
			handle.session.fail(new Error("a bug"));
			const { outcome } = (await client.event("turn.ended")).body;
			expect(outcome).toMatchObject({ status: "failed", error: { code: "internal" } });
			holding.attachment.close();
			await handle.startTurn("text: hello");
			expect((await client.event("turn.ended", 2)).body.outcome).toMatchObject({ status: "finished" });
		});

		it("end the events of their clients when they stop", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(plainRequest);
			const ended = async (one: SessionApi) => {
				const { events } = await one.attach(plainAttachment);
				for await (const _ of events);
				return true;
			};
			const waiting = ended(session);
			await session.stop();
			expect(await waiting).toBe(true);
			expect(await ended(session)).toBe(true);
			await sessions.stop();
			await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "closed" });
		});
	});
}
