import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { nobodyToAsk } from "../../../test/support/sessions/session-doubles.ts";
import type { LocalMcpServer, McpServerSettings, McpToolFilter, RemoteMcpServer } from "../../api/mcp-servers.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { ServerState } from "./connection.ts";
import { ServerSet, type ServerSetSettings } from "./server-set.ts";
import type { ListedTool } from "./tool-list.ts";

const everything: McpToolFilter = { names: null, hidden: [], includeTags: null, excludeTags: [] };

function settings(name: string, more: Partial<LocalMcpServer> = {}): LocalMcpServer {
	const plain = { command: "c", arguments: [], environment: {}, workDir: null, callTimeout: null, filter: everything };
	return { kind: "local", name, ...plain, ...more };
}

function remote(name: string): RemoteMcpServer {
	const place = { url: "http://localhost", transport: "http", headers: {}, authorization: { kind: "none" } } as const;
	return { kind: "remote", name, ...place, readTimeout: null, callTimeout: null, filter: everything };
}

function listed(name: string): ListedTool {
	return { name, description: "", parameters: { type: "object" }, tags: [] };
}

/** A connection that does what the test says. */
function createConnection(name: string) {
	const connected = createDeferred<void>();
	const listeners = new Set<() => void>();
	const calls: unknown[] = [];
	const connection = {
		name,
		state: "pending" as ServerState,
		tools: [] as readonly ListedTool[],
		calls,
		releases: 0,
		connects: 0,
		retries: 0,
		listeners,
		connect() {
			connection.connects += 1;
			connection.state = "connecting";
			return connected.promise;
		},
		retry() {
			connection.retries += 1;
		},
		async call(call: unknown) {
			calls.push(call);
			return { kind: "aborted" } as const;
		},
		onChange(listener: () => void) {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
		become(state: ServerState, ...tools: string[]) {
			connection.state = state;
			connection.tools = tools.map(listed);
			for (const listener of listeners) listener();
			connected.resolve();
		},
	};
	return connection;
}

function createSubject(servers: readonly McpServerSettings[], more: Partial<ServerSetSettings> = {}) {
	const connections = servers.map(({ name }) => createConnection(name));
	const warnings: unknown[] = [];
	const clock = createFakeClock();
	const set = new ServerSet({
		servers,
		acquire(server) {
			const connection = connections[servers.findIndex(({ name }) => name === server.name)] ?? createConnection("none");
			const release = () => {
				connection.releases += 1;
			};
			return { connection, release };
		},
		isTaken: () => false,
		questions: nobodyToAsk,
		callTimeout: 60_000,
		startTimeout: 30,
		clock,
		log: { ...silentLog, warn: (_, fields) => void warnings.push(fields) },
		...more,
	});
	const of = (name: string) => {
		const found = connections.find((connection) => connection.name === name);
		if (found === undefined) throw new Error(`There is no ${name}.`);
		return found;
	};
	return { set, of, clock, warnings, names: () => set.tools().map(({ name }) => name) };
}

const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("the servers of a session", () => {
	it("connect concurrently, and are waited for", async () => {
		const { set, of, names } = createSubject([settings("a"), settings("b")]);
		expect(set.status()).toEqual({
			loading: true,
			connected: 0,
			total: 2,
			tools: 0,
			servers: [
				{ name: "a", status: "pending", tools: [] },
				{ name: "b", status: "pending", tools: [] },
			],
		});
		set.begin();
		set.begin();
		expect([of("a").connects, of("b").connects]).toEqual([1, 1]);
		expect(set.status().servers.map(({ status }) => status)).toEqual(["connecting", "connecting"]);
		of("b").become("failed");
		await settle();
		expect(set.isLoading).toBe(true);
		const loaded = set.loaded(never);
		of("a").become("connected", "x", "y");
		await loaded;
		expect(names()).toEqual(["x", "y"]);
		expect(set.status()).toEqual({
			loading: false,
			connected: 1,
			total: 2,
			tools: 2,
			servers: [
				{ name: "a", status: "connected", tools: ["x", "y"] },
				{ name: "b", status: "failed", tools: [] },
			],
		});
	});

	it("are told of as connecting, however long the start of each takes", async () => {
		const { set, of } = createSubject([settings("a"), settings("b"), remote("c")]);
		let now = performance.now();
		const time = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
		onTestFinished(() => time.mockRestore());
		set.begin();
		expect(["a", "b", "c"].map((name) => of(name).connects)).toEqual([0, 0, 1]);
		expect(set.status().servers.map(({ status }) => status)).toEqual(["connecting", "connecting", "connecting"]);
		set.end();
	});

	it("that are programs are started a few at once, so that all of them do not take the machine from the session", async () => {
		const programs = Array.from({ length: 20 }, (_, n) => settings(`p${n}`));
		const { set, of, clock } = createSubject([...programs, remote("far")]);
		const begun = () => programs.filter(({ name }) => of(name).connects > 0).length;
		set.begin();
		await settle();
		expect([begun(), of("far").connects]).toEqual([8, 1]);
		of("p3").become("connected");
		of("p5").become("failed");
		await settle();
		expect(begun()).toBe(10);
		// Those that take long are waited for no more.
		clock.advance(1000);
		await settle();
		expect(begun()).toBe(18);
		set.end();
		clock.advance(1000);
		await settle();
		expect(begun()).toBe(18);
	});

	it("are waited for up to a limit, and added when they connect later", async () => {
		const { set, of, clock, names } = createSubject([settings("a"), settings("b")]);
		set.begin();
		of("a").become("connected", "x");
		const loaded = set.loaded(never);
		clock.advance(29_999);
		await settle();
		expect(set.isLoading).toBe(true);
		clock.advance(1);
		await loaded;
		expect(set.status()).toMatchObject({ loading: false, connected: 1 });
		of("b").become("connected", "y");
		expect(names()).toEqual(["x", "y"]);
	});

	it("are waited for without a limit when the settings say so", () => {
		const { set, clock } = createSubject([settings("a")], { startTimeout: null });
		set.begin();
		clock.advance(1_000_000_000);
		expect([set.isLoading, clock.waiting()]).toEqual([true, 0]);
	});

	it("are not waited for by a cancelled turn", async () => {
		const { set } = createSubject([settings("a")]);
		set.begin();
		const cancel = new AbortController();
		const loaded = set.loaded(cancel.signal);
		cancel.abort();
		await loaded;
		expect(set.isLoading).toBe(true);
		await set.loaded(cancel.signal);
	});

	it("are retried", () => {
		const { set, of } = createSubject([settings("a"), settings("b")]);
		set.retry();
		set.begin();
		set.retry();
		expect([of("a").retries, of("b").retries]).toEqual([1, 1]);
	});

	it("are released at the end", async () => {
		const { set, of, clock, names } = createSubject([settings("a")]);
		set.begin();
		of("a").become("connected", "x");
		set.end();
		set.end();
		expect([of("a").releases, of("a").listeners.size, clock.waiting(), names()]).toEqual([1, 0, 0, []]);
		await set.loaded(never);
	});
});

describe("the tools of servers", () => {
	it("pass the filter, and have the timeout of their server", async () => {
		const filter = { ...everything, names: ["x"] };
		const { set, of } = createSubject([settings("a", { filter, callTimeout: 5 }), settings("b")]);
		set.begin();
		of("a").become("connected", "x", "y");
		of("b").become("connected", "z");
		const calls = [];
		for (const tool of set.tools()) {
			const opened = await tool.open({}, { toolCallId: "c", rawArguments: null });
			if (opened.ok && opened.preparation.kind === "ready") calls.push(await opened.preparation.execute(never));
		}
		expect(of("a").calls).toMatchObject([{ tool: { name: "x" }, timeout: 5 }]);
		expect(of("b").calls).toMatchObject([{ tool: { name: "z" }, timeout: 60_000 }]);
	});

	it("omit a name that is in use, until it is free", () => {
		const taken = new Set(["x"]);
		const { set, of, warnings, names } = createSubject([settings("a")], { isTaken: (name) => taken.has(name) });
		set.begin();
		of("a").become("connected", "x", "y");
		expect([names(), names()]).toEqual([["y"], ["y"]]);
		expect(set.status()).toMatchObject({ tools: 1, servers: [{ tools: ["y"] }] });
		expect(warnings).toEqual([{ server: "a", tool: "x" }]);
		taken.clear();
		expect(names()).toEqual(["x", "y"]);
	});

	it("with the same name are the first server's, whichever connects first", () => {
		const { set, of, warnings, names } = createSubject([settings("a"), settings("b")]);
		set.begin();
		of("b").become("connected", "x", "y");
		of("a").become("connected", "x");
		expect(names()).toEqual(["x", "y"]);
		expect(set.status().servers.map(({ tools }) => tools)).toEqual([["x"], ["y"]]);
		expect(warnings).toEqual([{ server: "b", tool: "x" }]);
	});

	it("remain those of the server that had the name when the turn began", async () => {
		const { set, of, clock } = createSubject([settings("a"), settings("b")]);
		set.begin();
		of("b").become("connected", "x");
		clock.advance(30_000);
		of("a").become("connected", "x", "w");
		expect(set.status().servers.map(({ tools }) => tools)).toEqual([["w"], ["x"]]);
		// Also while it does not offer the tool.
		of("b").become("connected");
		expect(set.status().servers.map(({ tools }) => tools)).toEqual([["w"], []]);
	});

	it("remain while their server is disconnected", () => {
		const { set, of, names } = createSubject([settings("a")]);
		set.begin();
		of("a").become("connected", "x");
		const [tool] = set.tools();
		of("a").state = "failed";
		for (const listener of of("a").listeners) listener();
		expect(names()).toEqual(["x"]);
		expect(set.tools()[0]).toBe(tool);
		expect(set.status()).toMatchObject({ connected: 0, servers: [{ status: "failed", tools: ["x"] }] });
	});
});
