import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { call, createScriptedModel, done, type ModelScript, say } from "../../../test/support/models/scripted-model.ts";
import { plainAttachment } from "../../../test/support/sessions/session-doubles.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import type { McpServerSettings } from "../../api/mcp-servers.ts";
import type { EventBody, McpStatus } from "../../api/values/event.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { type ServerNeeds, type SessionServers, ToolServers } from "./tool-servers.ts";

type ServerStatus = McpStatus["servers"][number]["status"];

/** One server, controlled by the test. */
function createServers() {
	const loaded = createDeferred<void>();
	let status: ServerStatus = "pending";
	let isLoading = true;
	let tools: readonly Tool[] = [];
	const double = {
		begins: 0,
		retries: 0,
		ends: 0,
		needs: null as ServerNeeds | null,
		become(next: ServerStatus, ...offered: Tool[]) {
			status = next;
			tools = offered;
		},
		/** Ends the loading. */
		finish() {
			isLoading = false;
			loaded.resolve();
		},
		set: {
			begin() {
				double.begins += 1;
				if (status === "pending") status = "connecting";
			},
			get isLoading() {
				return isLoading;
			},
			async loaded(signal) {
				await Promise.race([
					loaded.promise,
					new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
				]);
			},
			retry() {
				double.retries += 1;
			},
			tools: () => tools,
			status: () => ({
				loading: isLoading,
				connected: status === "connected" ? 1 : 0,
				total: 1,
				tools: tools.length,
				servers: [{ name: "srv", status, tools: tools.map(({ name }) => name) }],
			}),
			end() {
				double.ends += 1;
			},
		} satisfies SessionServers,
	};
	return double;
}

const answer: ModelScript = [say("a"), done()];

const aServer: McpServerSettings = {
	kind: "local",
	name: "s",
	callTimeout: null,
	filter: { names: null, hidden: [], includeTags: null, excludeTags: [] },
	command: "s",
	arguments: [],
	environment: {},
	workDir: null,
};

async function createSubject(scripts: readonly ModelScript[] = [answer], tools: readonly Tool[] = []) {
	const servers = createServers();
	const subject = await createSessionSubject(createScriptedModel(scripts), tools, {
		yolo: true,
		mcpServers: [aServer],
		loadServers: async (needs) => {
			servers.needs = needs;
			return servers.set;
		},
	});
	const client = subject.attach();
	const run = async () => {
		const before = client.bodies.length;
		await subject.session.send({ type: "turn.start", input: "hi" });
		await client.next("turn.ended");
		return client.bodies.slice(before).map(toWord);
	};
	return { ...subject, client, servers, run };
}

/** The type of an event, with the state of the server if it contains one. */
function toWord(body: EventBody): string {
	if (body.type !== "status.changed" || body.mcp_status === null) return body.type;
	const { loading, servers } = body.mcp_status;
	return `mcp ${loading ? "loading" : "loaded"} ${servers.map(({ status }) => status).join()}`;
}

const plain = ["step.started", "content.delta", "content.completed", "status.changed", "turn.ended"];
const begun = ["turn.started", "mcp loading connecting", "mcp.loading-started"];

describe("a turn", () => {
	it("waits for servers that are still connecting", async () => {
		const { servers, session, client } = await createSubject();
		await session.send({ type: "turn.start", input: "hi" });
		await client.next("mcp.loading-started");
		expect(client.bodies.map(toWord)).toEqual(begun);
		servers.become("connected");
		servers.finish();
		await client.next("turn.ended");
		expect(client.bodies.map(toWord)).toEqual([...begun, "mcp loaded connected", "mcp.loading-ended", ...plain]);
	});

	it("emits nothing about servers that connected before", async () => {
		const { servers, run } = await createSubject([answer, answer]);
		servers.become("connected");
		servers.finish();
		expect(await run()).toEqual(["turn.started", ...plain]);
		expect(await run()).toEqual(["turn.started", ...plain]);
	});

	it.each(["failed", "connecting"] as const)("emits once that a server was %s before", async (status) => {
		const { servers, run } = await createSubject([answer, answer]);
		servers.become(status);
		servers.finish();
		expect(await run()).toEqual(["turn.started", `mcp loaded ${status}`, ...plain]);
		expect(await run()).toEqual(["turn.started", ...plain]);
	});

	it("emits nothing about a server that requires a sign-in", async () => {
		const { servers, run } = await createSubject();
		servers.become("unauthorized");
		servers.finish();
		expect(await run()).toEqual(["turn.started", ...plain]);
	});

	it("emits changes of the servers since the last event", async () => {
		const { servers, run } = await createSubject([answer, answer, answer, answer]);
		servers.become("connected");
		servers.finish();
		expect(await run()).toEqual(["turn.started", ...plain]);
		servers.become("failed");
		expect(await run()).toEqual(["turn.started", "mcp loaded failed", ...plain]);
		servers.become("connected", createToolDouble("T"));
		expect(await run()).toEqual(["turn.started", "mcp loaded connected", ...plain]);
		expect(await run()).toEqual(["turn.started", ...plain]);
	});

	it("retries failed servers once, and emits the result in the next turn", async () => {
		const { servers, run } = await createSubject([[call("c1", "T"), done()], answer, answer, answer]);
		servers.become("failed");
		servers.finish();
		servers.set.retry = () => {
			servers.retries += 1;
			servers.become("connected", createToolDouble("T"));
		};
		const delivered = await run();
		expect(delivered.filter((word) => word.startsWith("mcp"))).toEqual(["mcp loaded failed"]);
		expect(delivered.filter((word) => word === "step.started")).toHaveLength(2);
		expect(servers.retries).toBe(1);
		expect(await run()).toEqual(["turn.started", "mcp loaded connected", ...plain]);
		expect(await run()).toEqual(["turn.started", ...plain]);
		expect(servers.retries).toBe(3);
	});

	it("that waited for servers does not retry them", async () => {
		const { servers, session, client } = await createSubject();
		await session.send({ type: "turn.start", input: "hi" });
		await client.next("mcp.loading-started");
		servers.become("failed");
		servers.finish();
		await client.next("turn.ended");
		expect(servers.retries).toBe(0);
	});

	it("that is cancelled stops waiting, and emits the end of the loading", async () => {
		const { session, client } = await createSubject();
		await session.send({ type: "turn.start", input: "hi" });
		await client.next("mcp.loading-started");
		await session.send({ type: "turn.cancel" });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "cancelled" } });
		expect(client.bodies.map(toWord)).toEqual([...begun, "mcp loading connecting", "mcp.loading-ended", "turn.ended"]);
	});

	it("continues when no server can be loaded", async () => {
		const { session, attach } = await createSessionSubject(createScriptedModel([answer]), [], {
			mcpServers: [aServer],
			loadServers: () => Promise.reject(new Error("no such chunk")),
		});
		const client = attach();
		await session.send({ type: "turn.start", input: "hi" });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
	});
});

describe("servers", () => {
	it("start after the first client's answer, or with the first turn", async () => {
		const { servers, clock, attach } = await createSubject();
		attach();
		clock.advance(19);
		await Promise.resolve();
		expect(servers.needs).toBeNull();
		clock.advance(1);
		await new Promise((resolve) => setImmediate(resolve));
		expect(servers.begins).toBe(1);
	});

	it("start with a turn that has not reached its first step", async () => {
		const submitted = createDeferred<void>();
		const servers = createServers();
		const { session, attach, clock } = await createSessionSubject(createScriptedModel([answer]), [], {
			mcpServers: [aServer],
			loadServers: async () => servers.set,
			systemPrompt: async () => {
				await submitted.promise;
				return "Be brief.";
			},
		});
		const client = attach();
		await session.send({ type: "turn.start", input: "hi" });
		clock.advance(999);
		await client.next("turn.started");
		expect(servers.begins).toBe(0);
		clock.advance(1);
		await new Promise((resolve) => setImmediate(resolve));
		expect(servers.begins).toBe(1);
		servers.finish();
		submitted.resolve();
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
	});

	it("are closed when the session stops", async () => {
		const { servers, session, run } = await createSubject();
		servers.become("connected");
		servers.finish();
		await run();
		await session.stop();
		expect(servers.ends).toBe(1);
	});

	it("do not start after the end", async () => {
		const { servers, session, clock } = await createSubject();
		await session.stop();
		clock.advance(1000);
		await new Promise((resolve) => setImmediate(resolve));
		expect(servers.begins).toBe(0);
	});
});

describe("the tools of servers", () => {
	it("are offered and called, also those that connect late", async () => {
		const model = createScriptedModel([[call("c1", "T"), done()], answer]);
		const servers = createServers();
		servers.finish();
		const { session, attach } = await createSessionSubject(model, [createToolDouble("Own")], {
			yolo: true,
			mcpServers: [aServer],
			loadServers: async () => servers.set,
		});
		const client = attach();
		servers.become("connected", createToolDouble("T"));
		await session.send({ type: "turn.start", input: "hi" });
		expect(await client.next("tool.result")).toMatchObject({ toolCallId: "c1", result: { output: "T output" } });
		await client.next("turn.ended");
		expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
			["Own", "T"],
			["Own", "T"],
		]);
	});

	it("do not get names that the session or clients use", async () => {
		const { servers, attachWithTools, run } = await createSubject([answer], [createToolDouble("Own")]);
		servers.finish();
		await run();
		const isTaken = (name: string) => servers.needs?.isTaken(name);
		const parameters = { type: "object" };
		expect([isTaken("Own"), isTaken("Theirs"), isTaken("Free")]).toEqual([true, false, false]);
		const { attachment } = await attachWithTools([{ name: "Theirs", description: "", parameters }]);
		expect(isTaken("Theirs")).toBe(true);
		attachment.close();
		expect(isTaken("Theirs")).toBe(false);
	});

	it("have names that a client cannot use", async () => {
		const { servers, session, run } = await createSubject();
		servers.become("connected", createToolDouble("T"));
		servers.finish();
		await run();
		const tools = [{ name: "T", description: "", parameters: { type: "object" } }];
		const { rejected } = (await session.attach({ ...plainAttachment, tools })).tools;
		expect(rejected).toEqual([{ name: "T", reason: "conflicts with builtin tool" }]);
	});
});

it("loads the servers in a later turn when they could not be loaded", async () => {
	const servers = createServers();
	servers.finish();
	let attempts = 0;
	const load = async () => {
		attempts += 1;
		if (attempts === 1) throw new Error("too many open files");
		return servers.set;
	};
	const subject = new ToolServers(load, [aServer], createFakeClock(), silentLog);
	const { signal } = new AbortController();
	await subject.prepareTurn(async () => {}, signal);
	expect(servers.begins).toBe(0);
	await subject.prepareTurn(async () => {}, signal);
	expect(servers.begins).toBe(1);
});

describe("a change of the servers", () => {
	const named = (name: string): McpServerSettings => ({ ...aServer, name });
	const signal = new AbortController().signal;

	async function createChangeable(...names: string[]) {
		const sets: { readonly names: string[]; readonly servers: ReturnType<typeof createServers> }[] = [];
		const load = async (servers: readonly McpServerSettings[]) => {
			const made = createServers();
			made.finish();
			sets.push({ names: servers.map(({ name }) => name), servers: made });
			return made.set;
		};
		const subject = new ToolServers(load, names.map(named), createFakeClock(), silentLog);
		const turn = () => subject.prepareTurn(async () => {}, signal);
		const loaded = () => sets.map((each) => `${each.names.join("+")} ${each.servers.begins}/${each.servers.ends}`);
		return { subject, turn, loaded };
	}

	it("counts from the next turn on; the set before ends after the new one has begun", async () => {
		const { subject, turn, loaded } = await createChangeable("a");
		await turn();
		subject.change({ kind: "add", server: named("b") });
		subject.change({ kind: "remove", name: "a" });
		subject.change({ kind: "remove", name: "nosuch" });
		expect(loaded()).toEqual(["a 1/0"]);
		await turn();
		expect(loaded()).toEqual(["a 1/1", "b 1/0"]);
		await turn();
		expect(loaded()).toHaveLength(2);
	});

	it("of a session without servers loads nothing before there is one", async () => {
		const { subject, turn, loaded } = await createChangeable();
		await turn();
		expect(loaded()).toEqual([]);
		subject.change({ kind: "add", server: named("a") });
		await turn();
		expect(loaded().at(-1)).toBe("a 1/0");
	});

	it("reloads one by a set without it in between, and none that there is not", async () => {
		const { subject, turn, loaded } = await createChangeable("a", "b");
		await turn();
		subject.change({ kind: "reload", name: "b" });
		expect(() => subject.change({ kind: "reload", name: "c" })).toThrow(/no MCP server "c".*a, b/);
		await turn();
		expect(loaded()).toEqual(["a+b 1/1", "a 1/1", "a+b 1/0"]);
	});

	it("is refused for more servers than a session can use", async () => {
		const { subject } = await createChangeable(...Array.from({ length: 100 }, (_, n) => `s${n}`));
		expect(() => subject.change({ kind: "add", server: named("one more") })).toThrow(/at most 100/);
		subject.change({ kind: "add", server: named("s7") });
	});
});
