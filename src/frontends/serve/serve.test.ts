import { describe, expect, it } from "vitest";
import { call, createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import { silentLog } from "../../base/log.ts";
import type { Model } from "../../core/models/model.ts";
import { createMemoryTransport } from "../../ports/transports/memory.ts";
import { noCompatibility } from "../shared/dialect.ts";
import { serve } from "./serve.ts";

async function createSubject(model: Model | null = null) {
	const edit = createToolDouble("E", { approval: editNeed, hasEffect: true });
	const { session } = await createSessionSubject(model, [edit]);
	const { transport, client } = createMemoryTransport(1_000_000, 262_144);
	const stop = new AbortController();
	const server = { name: "agentwire", version: "0.0.0" };
	const serving = serve({
		transport,
		session,
		server,
		compatibility: noCompatibility,
		log: silentLog,
		signal: stop.signal,
	});
	const write = (...messages: readonly (object | string)[]) =>
		client.write(
			messages.map((message) => `${typeof message === "string" ? message : JSON.stringify(message)}\n`).join(""),
		);
	const read = async (): Promise<unknown> => {
		const line = await client.read();
		return line === null ? null : JSON.parse(line);
	};
	const rest = async () => {
		const messages: unknown[] = [];
		for (let message = await read(); message !== null; message = await read()) messages.push(message);
		return messages;
	};
	return { session, serving, client, stop, write, read, rest };
}
const request = (id: string, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const modernUnknown = (id: string, method: string) => ({
	jsonrpc: "2.0",
	id,
	error: { code: -32601, message: `Unexpected method received: ${method}`, data: null },
});

describe("the choice of the dialect", () => {
	it("stays open after invalid lines, unknown methods and foreign handshakes", async () => {
		const { write, read } = await createSubject();
		write("{bad", "", request("1", "nothing"), { id: "z", result: 1 }, { method: "prompt" }, request("2", "interrupt"));
		expect(await read()).toMatchObject({ id: null, error: { code: -32700, data: null } });
		expect(await read()).toMatchObject({ id: null, error: { code: -32700, data: null } });
		expect(await read()).toEqual(modernUnknown("1", "nothing"));
		expect(await read()).toEqual({ jsonrpc: "2.0", id: "2", result: { status: "idle" } });
		write("{bad", "", request("3", "prompt"));
		expect(await read()).toEqual({
			jsonrpc: "2.0",
			id: "3",
			error: { code: -32601, message: "Unknown method: prompt" },
		});
	});

	it.each([["run"], ["interrupt"]])("is legacy for %s, also as a notification", async (method) => {
		const { write, read } = await createSubject();
		write({ jsonrpc: "2.0", method }, request("1", "nothing"));
		expect(await read()).toMatchObject({ error: { message: "Unknown method: nothing" } });
	});

	it.each([
		["prompt", { user_input: 5 }],
		["steer", {}],
		["cancel", {}],
		["set_plan_mode", {}],
		["initialize", { protocol_version: 1 }],
		["initialize", { capabilities: {} }],
	])("is Kimi Wire for %s %j, permanently", async (method, params) => {
		const { write, read } = await createSubject();
		write(request("1", method, params), request("2", "run", { input: "x" }));
		const replies = [await read(), await read()];
		expect(replies).toContainEqual(modernUnknown("2", "run"));
	});
});

describe("the end", () => {
	it("of the input resolves interactions, ends the turn and writes all pending output", async () => {
		const { write, read, rest, client, serving } = await createSubject(
			createScriptedModel([[call("c1", "E"), done()]]),
		);
		write(request("p", "prompt", { user_input: "go" }));
		for (let message = await read(); JSON.stringify(message).includes("ApprovalRequest") === false; )
			message = await read();
		client.end();
		expect(await serving.ended).toBe("input-ended");
		await serving.finish();
		const messages = await rest();
		expect(messages.slice(-3)).toMatchObject([
			{ params: { type: "ApprovalResponse", payload: { response: "reject" } } },
			{ params: { type: "TurnEnd", payload: {} } },
			{ id: "p", result: { status: "cancelled" } },
		]);
	});

	it("can be a signal", async () => {
		const { serving, stop } = await createSubject();
		stop.abort();
		expect(await serving.ended).toBe("stopped");
		await serving.finish();
	});

	it("of the output ends serving, and the turn with it", async () => {
		const gate = createModelGate();
		const { serving, client, write, session } = await createSubject(createScriptedModel([[say("a"), gate, done()]]));
		write(request("p", "prompt", { user_input: "go" }));
		await gate.reached;
		client.disconnect();
		expect(await serving.ended).toBe("output-gone");
		await serving.finish();
		expect(serving.isOutputGone()).toBe(true);
		expect(session.turnId).toBeNull();
	});
});
