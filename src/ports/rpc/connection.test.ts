import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createLineHarness } from "../../../test/support/protocol/line-transport.ts";
import { createDeferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { acpRules } from "../../frontends/acp/envelope.ts";
import { envelopeRules } from "../../frontends/kimi/envelope.ts";
import { envelopeRules as legacyRules } from "../../frontends/legacy/envelope.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";
import type { EnvelopeRules, RpcReply } from "./envelope.ts";
import { defineMethod, type Method } from "./methods.ts";

/** Resolves after everything that is due in this turn of the event loop. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function createSubject(
	maximumInFlight = 256,
	log: Log = silentLog,
	rules: EnvelopeRules = envelopeRules,
	begun?: Promise<void>,
) {
	const harness = createLineHarness();
	const gates = new Map<string, ReturnType<typeof createDeferred<unknown>>>();
	const heard: unknown[] = [];
	const text = v.object({ text: v.string() });
	const methods = new Map<string, Method>([
		["echo", defineMethod({ params: text, handle: async (params) => params })],
		[
			"wait",
			defineMethod({
				params: text,
				handle: async ({ text: name }) => {
					const gate = createDeferred<unknown>();
					gates.set(name, gate);
					return await gate.promise;
				},
			}),
		],
		["refuse", defineMethod({ params: v.unknown(), handle: () => Promise.reject(new KernelError("busy", "Busy.")) })],
		[
			"crash",
			defineMethod({
				params: v.unknown(),
				handle: () => {
					throw new Error("secret");
				},
			}),
		],
		[
			"early",
			defineMethod({
				params: v.unknown(),
				handle: async (_params, respond) => {
					respond({ early: 1 });
					respond({ early: 2 });
					await settled();
					throw new Error("afterwards");
				},
			}),
		],
		[
			"broken",
			{
				actsOn: "both",
				prepare: () => {
					throw new Error("injected fault");
				},
			},
		],
		[
			"endless",
			defineMethod({
				params: v.unknown(),
				handle: async () => {
					const own: { own?: unknown } = {};
					own.own = own;
					return own;
				},
			}),
		],
		[
			"note",
			defineMethod({
				params: text,
				actsOn: "both",
				handle: async (params, respond) => {
					heard.push(params);
					respond({ noted: true });
				},
			}),
		],
		[
			"told",
			defineMethod({ params: text, actsOn: "notifications", handle: async (params) => void heard.push(params) }),
		],
		[
			"badnote",
			defineMethod({
				params: v.unknown(),
				actsOn: "both",
				handle: () => {
					heard.push("badnote");
					throw new Error("at once");
				},
			}),
		],
	]);
	const settings: ConnectionSettings = { rules, methods };
	const connection = new Connection(harness.transport, {
		undecided: () => settings,
		choose: () => null,
		maximumInFlight,
		log,
		...(begun === undefined ? {} : { begun }),
	});
	const served = connection.serve();
	const request = (id: string, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params });
	return { ...harness, gates, heard, connection, served, request };
}
const result = (id: string, value: unknown) => ({ jsonrpc: "2.0", id, result: value });
const error = (id: string | null, code: number, message: unknown) => ({
	jsonrpc: "2.0",
	id,
	error: { code, message, data: null },
});

describe("requests", () => {
	it("are answered with a result, an error, an unknown method or invalid params", async () => {
		const { receive, request, take } = createSubject();
		receive(
			request("1", "echo", { text: "a", more: 1 }),
			request("2", "refuse"),
			request("3", "nothing"),
			request("4", "echo", { text: 5 }),
			request("5", "echo"),
		);
		await settled();
		expect(take()).toEqual(
			expect.arrayContaining([
				result("1", { text: "a" }),
				error("2", -32000, "Busy."),
				error("3", -32601, "Unexpected method received: nothing"),
				error("4", -32602, "Invalid parameters for method `echo`"),
				error("5", -32602, "Invalid parameters for method `echo`"),
			]),
		);
	});

	it("wait, like notifications, until it has begun, and are then handled in their order", async () => {
		const begun = createDeferred<void>();
		const { receive, request, take, heard } = createSubject(256, silentLog, envelopeRules, begun.promise);
		receive(request("1", "echo", { text: "a" }), { jsonrpc: "2.0", method: "told", params: { text: "b" } });
		receive(request("2", "echo", { text: "c" }));
		await settled();
		expect([take(), heard]).toEqual([[], []]);
		begun.resolve();
		await settled();
		expect(take()).toEqual([result("1", { text: "a" }), result("2", { text: "c" })]);
		expect(heard).toEqual([{ text: "b" }]);
	});

	it.each([["event"], ["request"], [""], ["__proto__"], ["constructor"], ["toString"]])(
		"are answered as an unknown method for %j",
		async (method) => {
			const { receive, request, take } = createSubject();
			receive(request("1", method));
			expect(take()).toEqual([error("1", -32601, `Unexpected method received: ${method}`)]);
		},
	);

	it("are refused when they are no JSON, however many, of which the log has the first hundred", () => {
		const warnings: string[] = [];
		const { receive, take } = createSubject(256, { ...silentLog, warn: (text) => void warnings.push(text) });
		receive(...Array.from({ length: 300 }, () => "{x"));
		expect(take()).toEqual(Array.from({ length: 300 }, () => error(null, -32700, "Invalid JSON format")));
		expect(warnings).toHaveLength(101);
		expect(warnings.at(-1)).toMatch(/Further lines .* are not logged/);
	});

	it("hide the cause of an internal error, thrown at once or later", async () => {
		const { receive, request, take } = createSubject();
		receive(request("1", "crash"));
		await settled();
		expect(take()).toEqual([error("1", -32603, expect.not.stringContaining("secret"))]);
	});

	it("get the early response and nothing more, even when the handler throws afterwards", async () => {
		const { receive, request, take, connection } = createSubject();
		receive(request("1", "early"));
		await connection.idle();
		expect(take()).toEqual([result("1", { early: 1 })]);
	});

	it("answers what it cannot handle, or whose result it cannot send, and goes on with the lines that came with it", async () => {
		const { receive, request, take } = createSubject();
		receive(request("1", "broken"), request("2", "endless"), request("3", "echo", { text: "a" }));
		await settled();
		const internal = "Internal error; the log has the details.";
		expect(take()).toEqual(
			expect.arrayContaining([error("1", -32603, internal), error("2", -32603, internal), result("3", { text: "a" })]),
		);
	});

	it("run concurrently, and both of two requests with one id are answered", async () => {
		const { receive, request, take, gates } = createSubject();
		receive(request("1", "wait", { text: "slow" }), request("1", "echo", { text: "quick" }));
		await settled();
		expect(take()).toEqual([result("1", { text: "quick" })]);
		gates.get("slow")?.resolve("done");
		await settled();
		expect(take()).toEqual([result("1", "done")]);
	});

	it("are refused above the limit of requests in flight, and accepted again after one ends", async () => {
		const { receive, request, take, gates, connection } = createSubject();
		for (let n = 0; n < 256; n += 1) receive(request(`w${n}`, "wait", { text: `${n}` }));
		receive(request("over", "echo", { text: "a" }), request("odd", "nothing"));
		await settled();
		expect(take()).toEqual([
			error("over", -32000, expect.stringContaining("256")),
			error("odd", -32601, "Unexpected method received: nothing"),
		]);
		gates.get("7")?.resolve(7);
		await settled();
		receive(request("next", "echo", { text: "b" }));
		await settled();
		expect(take()).toEqual([result("w7", 7), result("next", { text: "b" })]);
		for (const gate of gates.values()) gate.resolve(0);
		await connection.idle();
	});

	it("leave the connection idle only when all have ended, failed ones included", async () => {
		const { receive, request, gates, connection } = createSubject();
		await connection.idle();
		receive(request("1", "wait", { text: "a" }), request("2", "wait", { text: "b" }));
		let isIdle = false;
		const idle = connection.idle().then(() => {
			isIdle = true;
		});
		gates.get("a")?.reject(new Error("no"));
		await settled();
		expect(isIdle).toBe(false);
		gates.get("b")?.resolve(1);
		await idle;
	});
});

describe("notifications", () => {
	it("run only methods for notifications, and are not answered", async () => {
		const { receive, take, heard } = createSubject();
		receive(
			{ method: "note", params: { text: "a" } },
			{ method: "note", params: { text: 5 } },
			{ method: "echo", params: { text: "b" } },
			{ method: "nothing" },
		);
		await settled();
		expect(heard).toEqual([{ text: "a" }]);
		expect(take()).toEqual([]);
	});

	it("run methods that a request cannot call", async () => {
		const { receive, request, take, heard } = createSubject();
		receive(request("1", "told", { text: "a" }), { method: "told", params: { text: "b" } });
		receive({ id: null, method: "told", params: { text: "c" } });
		await settled();
		expect(take()).toEqual([error("1", -32601, "Unexpected method received: told")]);
		expect(heard).toEqual([{ text: "b" }, { text: "c" }]);
	});

	it("survive a handler that throws at once", async () => {
		const { receive, request, take, heard } = createSubject();
		expect(() => receive({ method: "badnote" })).not.toThrow();
		receive(request("1", "echo", { text: "still here" }));
		await settled();
		expect(heard).toEqual(["badnote"]);
		expect(take()).toEqual([result("1", { text: "still here" })]);
	});
});

describe("unusable lines", () => {
	it("are answered with id null, and the connection continues", async () => {
		const { receive, receiveOversized, request, take } = createSubject();
		receive("{not", "", "[]");
		receiveOversized();
		receive({ id: "z" }, request("1", "echo", { text: "a" }));
		await settled();
		expect(take()).toEqual([
			error(null, -32700, "Invalid JSON format"),
			error(null, -32700, "Invalid JSON format"),
			error(null, -32600, "Invalid request"),
			error(null, -32700, "Invalid JSON format"),
			error(null, -32600, "Invalid response"),
			result("1", { text: "a" }),
		]);
	});
});

describe("requests to the peer", () => {
	it("return only the first reply", () => {
		const { receive, connection, take } = createSubject();
		const replies: RpcReply[] = [];
		connection.call("a", "request", { x: 1 }, (reply) => replies.push(reply));
		expect(take()).toEqual([{ jsonrpc: "2.0", method: "request", id: "a", params: { x: 1 } }]);
		expect(connection.isWaiting("a")).toBe(true);
		receive({ id: "a", result: 1 }, { id: "a", result: 2 }, { id: "a", error: { code: 1, message: "late" } });
		expect(replies).toEqual([{ kind: "result", result: 1 }]);
		expect(connection.isWaiting("a")).toBe(false);
		expect(take()).toEqual([]);
	});

	it("return errors", () => {
		const { receive, connection } = createSubject();
		const replies: RpcReply[] = [];
		connection.call("a", "request", {}, (reply) => replies.push(reply));
		receive({ id: "a", error: { code: 1, message: "no", data: [2] } });
		expect(replies).toEqual([{ kind: "error", error: { code: 1, message: "no", data: [2] } }]);
	});

	it.each([
		["no text of the error", '{"jsonrpc":"2.0","id":"a","error":{"code":1}}'],
		["an error that is no object", '{"jsonrpc":"2.0","id":"a","error":"no"}'],
		["an error of null and no result", '{"jsonrpc":"2.0","id":"a","error":null}'],
		["neither a result nor an error", '{"jsonrpc":"2.0","id":"a"}'],
		["no version", '{"id":"a","result":1}'],
		["an array in its place", '{"jsonrpc":"2.0","id":"a","method":[]}'],
	])("fail by an answer with %s: no other follows", (_what, line) => {
		const { receive, connection, take } = createSubject(256, silentLog, acpRules);
		const replies: RpcReply[] = [];
		connection.call("a", "request", {}, (reply) => replies.push(reply));
		take();
		receive(line);
		const message = "The answer is not a valid response.";
		expect(replies).toEqual([{ kind: "error", error: { code: -32600, message } }]);
		expect(connection.isWaiting("a")).toBe(false);
		expect(take()).toEqual([]);
	});

	it("ignore replies to unknown, withdrawn and unanswered requests", () => {
		const { receive, connection, take } = createSubject();
		const replies: RpcReply[] = [];
		connection.call("a", "request", {}, (reply) => replies.push(reply));
		connection.withdraw("a");
		connection.callUnanswered("b", "request", {});
		take();
		receive({ id: "a", result: 1 }, { id: "b", result: 1 }, { id: "c", error: { code: 1, message: "x" } });
		expect(replies).toEqual([]);
		expect(take()).toEqual([]);
	});

	it("have ids that are independent of the other direction", async () => {
		const { receive, request, connection, take } = createSubject();
		const replies: RpcReply[] = [];
		connection.call("same", "request", {}, (reply) => replies.push(reply));
		take();
		receive(request("same", "echo", { text: "a" }));
		await settled();
		expect(take()).toEqual([result("same", { text: "a" })]);
		expect(connection.isWaiting("same")).toBe(true);
	});
});

describe("the choice of settings", () => {
	it("is made once, after any number of undecided lines", async () => {
		const harness = createLineHarness();
		const named = (name: string): ConnectionSettings => ({
			rules: name === "chosen" ? legacyRules : envelopeRules,
			methods: new Map([["who", defineMethod({ params: v.unknown(), handle: async () => ({ name }) })]]),
		});
		const seen: unknown[] = [];
		const connection = new Connection(harness.transport, {
			undecided: () => named("undecided"),
			choose: (value) => {
				seen.push(value);
				return typeof value === "object" && value !== null && "choose" in value ? named("chosen") : null;
			},
			maximumInFlight: 1,
			log: silentLog,
		});
		void connection.serve();
		harness.receive("{bad", { jsonrpc: "2.0", id: "1", method: "who" });
		await settled();
		harness.receive({ jsonrpc: "2.0", choose: true });
		harness.receive("{bad", "", { jsonrpc: "2.0", id: "2", method: "who" });
		await settled();
		expect(harness.take()).toEqual([
			error(null, -32700, "Invalid JSON format"),
			result("1", { name: "undecided" }),
			result("2", { name: "chosen" }),
		]);
		expect(seen).toHaveLength(3);
	});

	it("ends with the input", async () => {
		const { served, end, take } = createSubject();
		end();
		await expect(served).resolves.toBeUndefined();
		expect(take()).toEqual([]);
	});
});
