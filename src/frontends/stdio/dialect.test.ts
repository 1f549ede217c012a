import { expect, it } from "vitest";
import { createHost } from "../../../test/support/sessions/session-host.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import { silentLog } from "../../base/log.ts";
import type { MethodTable } from "../../ports/rpc/methods.ts";
import { stdioDialect } from "./dialect.ts";

async function connect() {
	const { host, clock } = await createHost();
	const connection = stdioDialect.converse({
		sessions: host,
		account: null,
		documents: { find: () => ({ read: async () => ({}), update: async () => ({}) }) },
		clock,
		identifiers: randomIdentifiers,
		server: { name: "agentwire", version: "1" },
		log: silentLog,
	});
	return { connection, call: (name: string, params: object = {}) => callMethod(connection.methods, name, params) };
}

async function callMethod(methods: MethodTable, name: string, params: object): Promise<Record<string, unknown>> {
	const prepared = methods.get(name)?.prepare(params);
	if (typeof prepared !== "function") throw new Error(`${name} cannot be called`);
	return Object(await prepared(() => {}, 1));
}

it("creates a session, runs a turn in it and delivers its events in batches that are pulled", async () => {
	const { call } = await connect();
	expect(await call("server.info")).toEqual({ name: "agentwire", version: "1", protocol: 1, scope: "control" });
	const { sessionId } = await call("sessions.create", { workDir: "/work" });
	const { stream, snapshot } = await call("session.attach", { sessionId, answers: true });
	expect(snapshot).toMatchObject({ sessionId, turnId: null });
	const { turnId } = await call("turn.start", { sessionId, input: "text: hello" });
	const types: unknown[] = [];
	while (!types.includes("turn.ended")) {
		const { events } = await call("stream.next", { stream });
		if (Array.isArray(events)) for (const event of events) types.push(event.type);
	}
	expect(types).toContain("content.completed");
	const { events, isEnd } = await call("session.history", { sessionId });
	expect(isEnd).toBe(true);
	expect(events).toEqual(expect.arrayContaining([expect.objectContaining({ type: "turn.ended", turnId })]));
});

it("offers the tools of the client, refuses an unknown stream, and ends streams when the client leaves", async () => {
	const { call, connection } = await connect();
	const { sessionId } = await call("sessions.create", { workDir: "/work" });
	const tool = { name: "weather", description: "Returns the weather", parameters: { type: "object" } };
	const { stream, tools } = await call("session.attach", { sessionId, answers: true, tools: [tool] });
	expect(tools).toEqual({ accepted: ["weather"], rejected: [] });
	await expect(call("stream.next", { stream: "s9" })).rejects.toThrow("no open stream s9");
	const next = call("stream.next", { stream });
	connection.leave();
	expect(await next).toEqual({ events: [], ended: true });
});

it("names the place of a wrong param", async () => {
	const { call } = await connect();
	await expect(call("sessions.create", { budgets: { turnTokens: -1 } })).rejects.toThrow(
		"sessions.create cannot take the value of 'budgets.turnTokens'",
	);
	await expect(call("turn.start", { sessionId: "x" })).rejects.toThrow("turn.start needs 'input'");
});
