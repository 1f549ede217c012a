// A connection over a program in this process: its transport, the library's client and what is made of both.
import { describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createProgram, type Program, type ProgramOptions } from "../../../test/support/mcp/mcp-program.ts";
import { nobodyToAsk } from "../../../test/support/sessions/session-doubles.ts";
import type { LocalMcpServer } from "../../api/mcp-servers.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { QuestionOperations } from "../tools/operations.ts";
import { type CallOutcome, ServerConnection } from "./connection.ts";

const server: LocalMcpServer = {
	kind: "local",
	name: "srv",
	command: "serve",
	arguments: ["--now"],
	environment: { TOKEN: "t" },
	workDir: "sub",
	callTimeout: null,
	filter: { names: null, hidden: [], includeTags: null, excludeTags: [] },
};
const tool = { name: "echo", inputSchema: { type: "object" } };
const never = new AbortController().signal;
const text = (said: unknown) => ({ content: [{ type: "text", text: String(said) }] });

interface Subject {
	readonly program: Program;
	readonly connection: ServerConnection;
	readonly clock: FakeClock;
	readonly warnings: unknown[];
	/** The states and numbers of tools that were reported. */
	readonly reported: string[];
	call(options?: CallOptions): Promise<CallOutcome>;
}

interface CallOptions {
	readonly progressed?: (progress: string) => void;
	readonly value?: Record<string, unknown>;
	readonly signal?: AbortSignal;
	readonly questions?: QuestionOperations;
}

function createSubject(options: ProgramOptions = {}, settings: LocalMcpServer = server): Subject {
	const program = createProgram({
		tools: [tool],
		call: ({ arguments: value }) => text(JSON.stringify(value)),
		...options,
	});
	const clock = createFakeClock();
	const warnings: unknown[] = [];
	const log: Log = { ...silentLog, warn: (message, fields) => void warnings.push([message, fields]) };
	const connection = new ServerConnection(
		settings,
		{ workDir: "/work", startDir: "/share", environment: { PATH: ".:/bin::bin", TOKEN: "old" } },
		{
			processes: program.processes,
			authorization: { provider: async () => null, needs: async () => {}, settled: async () => {} },
			fetch: () => Promise.reject(new Error("there is no network here")),
			clock,
			log,
			version: "1.2.3",
		},
	);
	const reported: string[] = [];
	connection.onChange(() => reported.push(`${connection.state} ${connection.tools.length}`));
	return {
		program,
		connection,
		clock,
		warnings,
		reported,
		call: ({ value = {}, signal = never, questions = nobodyToAsk, progressed = (_: string) => {} } = {}) =>
			connection.call(
				{
					tool: { name: "echo", parameters: { type: "object" } },
					arguments: value,
					timeout: 1000,
					asker: { questions, toolCallId: "c" },
					progressed,
				},
				signal,
			),
	};
}

async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

const answered = (said: unknown) => ({ kind: "answered", result: { content: text(said).content } });

describe("connecting", () => {
	it("starts the program in its directory, and requests its tools", async () => {
		const { connection, program, reported } = createSubject();
		expect([connection.state, connection.tools]).toEqual(["pending", []]);
		await Promise.all([connection.connect(), connection.connect()]);
		expect(reported).toEqual(["connecting 0", "connected 1"]);
		expect(connection.tools).toMatchObject([{ name: "echo", parameters: { type: "object" } }]);
		expect(program.runs).toHaveLength(1);
		expect(program.run().request).toMatchObject({
			file: "serve",
			arguments: ["--now"],
			workDir: "/work/sub",
			environment: { PATH: "/bin", TOKEN: "t", AGENTWIRE_WORK_DIR: "/work" },
		});
		expect(program.run().received[0]).toMatchObject({
			method: "initialize",
			params: { clientInfo: { name: "agentwire", version: "1.2.3" }, capabilities: { elicitation: { form: {} } } },
		});
	});

	it("starts a program without a directory of its own outside of the project, and tells it which that is", async () => {
		const project = ["$", "{workDir}"].join("");
		const { connection, program } = createSubject(
			{},
			{ ...server, workDir: null, arguments: [project, `--root=${project}/a`], environment: { ROOT: project } },
		);
		await connection.connect();
		expect(program.run().request).toMatchObject({
			arguments: ["/work", "--root=/work/a"],
			workDir: "/share",
			environment: { ROOT: "/work", AGENTWIRE_WORK_DIR: "/work" },
		});
	});

	it("reads all pages of the list, and omits invalid tools", async () => {
		const pages: Record<string, object> = {
			"": { tools: [tool, { name: 3 }, { ...tool, name: "bad", inputSchema: { type: "string" } }], nextCursor: "2" },
			"2": {
				tools: [
					{ ...tool, description: "twice" },
					{ ...tool, name: "last" },
				],
			},
		};
		const { connection, warnings } = createSubject({
			handle({ id, method, params }, run) {
				if (method !== "tools/list") return false;
				run.send({ id, result: pages[String(params?.["cursor"] ?? "")] });
				return true;
			},
		});
		await connection.connect();
		expect(connection.tools.map(({ name, description }) => [name, description])).toEqual([
			["echo", ""],
			["last", ""],
		]);
		expect(warnings).toEqual([
			["A tool of an MCP server is left out.", { server: "srv", tool: "", reason: "it has no name" }],
			[
				"A tool of an MCP server is left out.",
				{ server: "srv", tool: "bad", reason: 'the type of its parameters is not "object"' },
			],
		]);
	});

	it("reads the first thousand tools of a list", async () => {
		const tools = Array.from({ length: 200_000 }, (_, index) => ({ ...tool, name: `t${index}` }));
		const { connection, warnings } = createSubject({
			handle({ id, method }, run) {
				if (method !== "tools/list") return false;
				run.send({ id, result: { tools } });
				return true;
			},
		});
		await connection.connect();
		expect(connection.tools).toHaveLength(1000);
		expect(warnings).toEqual([["An MCP server lists too many tools.", { server: "srv", read: 1000 }]]);
	});

	it("limits the pages of an endless list", async () => {
		let pages = 0;
		const { connection } = createSubject({
			handle({ id, method }, run) {
				if (method !== "tools/list") return false;
				pages += 1;
				run.send({ id, result: { tools: [{ ...tool, name: `t${pages}` }], nextCursor: `${pages}` } });
				return true;
			},
		});
		await connection.connect();
		expect([connection.state, connection.tools.length]).toEqual(["connected", 64]);
	});

	it("requests no tools from a server without tools", async () => {
		const { connection, program } = createSubject({
			handle({ id, method }, run) {
				if (method !== "initialize") return false;
				const serverInfo = { name: "n", version: "1" };
				run.send({ id, result: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo } });
				return true;
			},
		});
		await connection.connect();
		expect([connection.state, connection.tools]).toEqual(["connected", []]);
		expect(program.run().received.map(({ method }) => method)).not.toContain("tools/list");
	});

	it("fails when the program exits, and reports its last output", async () => {
		const { connection, program, warnings, reported } = createSubject({
			handle(_, run) {
				run.print("I am lost.\n", "error");
				run.exit({ kind: "exited", exitCode: 3 });
				return true;
			},
		});
		await connection.connect();
		expect(reported).toEqual(["connecting 0", "failed 0"]);
		const reason = "it exited with code 3; its last output: I am lost";
		expect(warnings).toEqual([["An MCP server could not be connected.", { server: "srv", reason }]]);
		expect(program.run().isOver).toBe(true);
	});

	it("fails the same when the program exits without reading", async () => {
		const { connection, program } = createSubject({ isDeaf: true });
		const connecting = connection.connect();
		await until(() => program.runs.length > 0);
		await new Promise((resolve) => setImmediate(resolve));
		program.run().exit({ kind: "exited", exitCode: 3 });
		await connecting;
		expect(connection.failure).toMatchObject({ reason: "it exited with code 3" });
	});

	it("has a time limit when the program reads nothing", async () => {
		const { connection, program, clock } = createSubject({ isDeaf: true });
		const connecting = connection.connect();
		await until(() => clock.waiting() > 0);
		clock.advance(200);
		await connecting;
		expect(connection.failure).toMatchObject({ reason: "write EPIPE" });
		expect(program.run().isOver).toBe(true);
	});

	it("fails for an invalid list, and ends the program", async () => {
		const { connection, program } = createSubject({
			handle({ id, method }, run) {
				if (method === "tools/list") run.send({ id, result: { tools: "none" } });
				return method === "tools/list";
			},
		});
		await connection.connect();
		expect([connection.state, program.run().isOver]).toEqual(["failed", true]);
	});

	it("ignores lines that are no messages", async () => {
		const { connection, program } = createSubject({
			handle({ method }, run) {
				if (method === "initialize") run.print('Hello!\n\n{"a":\nnull\n7\n{}\n[]\n[1]\n{"jsonrpc":"2.0"}\n');
				return false;
			},
		});
		await connection.connect();
		expect(connection.state).toBe("connected");
		expect(program.runs).toHaveLength(1);
	});

	it("reads several messages on a line", async () => {
		const { connection } = createSubject({
			handle({ id, method }, run) {
				if (method !== "tools/list") return false;
				const note = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } };
				run.print(`${JSON.stringify([note, { jsonrpc: "2.0", id, result: { tools: [tool] } }])}\n`);
				return true;
			},
		});
		await connection.connect();
		expect(connection.tools).toHaveLength(1);
	});

	it("uses the new protocol with a server that knows no other", async () => {
		const version = "2026-07-28";
		const { connection, program, call } = createSubject({
			handle({ id, method }, run) {
				if (method === "initialize") run.send({ id, error: { code: -32601, message: "No initialize here" } });
				else if (method === "server/discover") {
					const result = { supportedVersions: [version], capabilities: { tools: {} }, resultType: "complete" };
					run.send({ id, result: { ...result, ttlMs: 0, cacheScope: "private" } });
				} else if (method === "tools/list") {
					run.send({ id, result: { tools: [tool], resultType: "complete", ttlMs: 0, cacheScope: "private" } });
				} else if (method === "tools/call") run.send({ id, result: { ...text("new"), resultType: "complete" } });
				return true;
			},
		});
		await connection.connect();
		expect([connection.state, connection.tools.length, program.runs.length]).toEqual(["connected", 1, 2]);
		expect(await call()).toMatchObject(answered("new"));
		program.run().exit();
		await until(() => connection.state === "failed");
		expect(await call()).toMatchObject(answered("new"));
		// What it knows now is not asked again.
		expect(program.runs).toHaveLength(3);
	});
});

describe("a call", () => {
	it("returns the answer of the server, whatever it is", async () => {
		const { connection, call } = createSubject({ call: () => ({ content: [{ type: "odd" }, 1], isError: "no" }) });
		await connection.connect();
		expect(await call()).toEqual({ kind: "answered", result: { content: [{ type: "odd" }, 1], isError: "no" } });
	});

	it("returns an error of the server, which stays connected", async () => {
		const { connection, call } = createSubject({ call: () => new Error("No such thing.") });
		await connection.connect();
		expect(await call()).toEqual({ kind: "failed", reason: "No such thing", isUncertain: false });
		expect(connection.state).toBe("connected");
	});

	it("has a time limit, and is cancelled at the server", async () => {
		const { connection, program, clock, call } = createSubject({
			call({ _meta: meta }, run) {
				const { progressToken } = meta as { progressToken: number };
				run.send({
					method: "notifications/progress",
					params: { progressToken, progress: 3, total: 9, message: "on it" },
				});
				return null;
			},
		});
		await connection.connect();
		const progress: string[] = [];
		const outcome = call({ progressed: (line) => void progress.push(line) });
		await until(() => program.run().received.some(({ method }) => method === "tools/call"));
		await until(() => clock.waiting() === 1 && progress.length > 0);
		expect(progress).toEqual(["3 of 9, on it"]);
		await new Promise((resolve) => setImmediate(resolve));
		clock.advance(1000);
		expect(await outcome).toEqual({ kind: "timed-out", progress: "3 of 9, on it" });
		await until(() => program.run().received.at(-1)?.method === "notifications/cancelled");
	});

	it("can be cancelled", async () => {
		const { connection, program, clock, call } = createSubject({ call: () => null });
		await connection.connect();
		const cancel = new AbortController();
		const outcome = call({ signal: cancel.signal });
		await until(() => program.run().received.some(({ method }) => method === "tools/call"));
		cancel.abort();
		expect(await outcome).toEqual({ kind: "aborted" });
		await until(() => program.run().received.at(-1)?.method === "notifications/cancelled");
		expect([connection.state, clock.waiting()]).toEqual(["connected", 0]);
	});

	it("fails when the server exits; the next call restarts it", async () => {
		let isDeadly = true;
		const { connection, program, reported, warnings, call } = createSubject({
			call(_, run) {
				if (!isDeadly) return text("alive");
				run.print("Argh!\n", "error");
				run.exit({ kind: "signalled", signal: "SIGKILL" });
				return null;
			},
		});
		await connection.connect();
		const reason = "it was ended by SIGKILL; its last output: Argh!";
		expect(await call()).toEqual({ kind: "failed", reason, isUncertain: true });
		expect(connection.tools).toHaveLength(1);
		expect(warnings).toEqual([["The connection to an MCP server is lost.", { server: "srv", reason }]]);
		isDeadly = false;
		expect(await call()).toEqual(answered("alive"));
		expect(program.runs).toHaveLength(2);
		expect(reported).toEqual(["connecting 0", "connected 1", "failed 1", "connected 1"]);
	});

	it("restarts a server that exited meanwhile", async () => {
		const { connection, program, call } = createSubject();
		await connection.connect();
		program.run().exit();
		await until(() => connection.state === "failed");
		expect(await Promise.all([call({ value: { n: 1 } }), call({ value: { n: 2 } })])).toEqual([
			answered('{"n":1}'),
			answered('{"n":2}'),
		]);
		expect(program.runs).toHaveLength(2);
	});

	it("fails when the server does not restart, and only then", async () => {
		let isGone = false;
		const { connection, program, call } = createSubject({
			handle(_, run) {
				if (isGone) run.exit({ kind: "not-started", reason: "ENOENT" });
				return isGone;
			},
		});
		await connection.connect();
		isGone = true;
		program.run().exit();
		await until(() => connection.state === "failed");
		const failure = { kind: "failed", reason: "it could not be started: ENOENT", isUncertain: false };
		expect(await call()).toEqual(failure);
		isGone = false;
		expect(await call()).toMatchObject({ kind: "answered" });
	});

	it("limits the wait for a restart to the timeout of the call", async () => {
		let isSlow = false;
		const { connection, program, clock, call } = createSubject({ handle: () => isSlow });
		await connection.connect();
		isSlow = true;
		program.run().exit();
		await until(() => connection.state === "failed");
		const outcome = call();
		await until(() => program.runs.length === 2);
		clock.advance(1000);
		expect(await outcome).toEqual({ kind: "timed-out", progress: "" });
	});
});

describe("a failed connection", () => {
	/** One that starts only when it is mended; `tries` are those to start it. */
	const createBroken = () => {
		let isMended = false;
		const subject = createSubject({
			handle(_, run) {
				if (!isMended) run.exit({ kind: "exited", exitCode: 3 });
				return !isMended;
			},
		});
		const settle = async () => {
			await until(() => subject.program.runs.every(({ isOver }) => isOver || isMended));
			for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
		};
		return {
			...subject,
			tries: () => subject.program.runs.length,
			mend() {
				isMended = true;
			},
			async retry() {
				subject.connection.retry();
				await settle();
			},
		};
	};

	it("is retried, and counts as failed until it is connected", async () => {
		const { connection, mend, retry, reported, tries, warnings } = createBroken();
		await connection.connect();
		await retry();
		expect([reported, tries()]).toEqual([["connecting 0", "failed 0", "failed 0"], 2]);
		// It is no news any more.
		expect(warnings).toHaveLength(1);
		mend();
		await retry();
		expect(tries()).toBe(2);
	});

	it("is retried at once, and then with a growing interval", async () => {
		const { connection, clock, retry, tries } = createBroken();
		await connection.connect();
		await retry();
		for (const wait of [15, 30, 60, 120, 240, 480, 600, 600]) {
			const before = tries();
			clock.advance(wait * 1000 - 1);
			await retry();
			expect(tries()).toBe(before);
			clock.advance(1);
			await retry();
			expect(tries()).toBe(before + 1);
		}
	});

	it("becomes connected when the server starts, and retries anew when it is lost", async () => {
		const { connection, clock, mend, program, retry, reported, tries } = createBroken();
		await connection.connect();
		await retry();
		clock.advance(15_000);
		mend();
		connection.retry();
		await until(() => connection.state === "connected");
		expect(reported).toEqual(["connecting 0", "failed 0", "failed 0", "connected 1"]);
		await retry();
		expect(tries()).toBe(3);
		program.run().exit();
		await until(() => connection.state === "failed");
		connection.retry();
		await until(() => connection.state === "connected");
		expect(tries()).toBe(4);
	});

	it("is retried once at a time, and never after the end", async () => {
		const { connection, program, retry } = createBroken();
		connection.retry();
		expect(program.runs).toHaveLength(0);
		await connection.connect();
		connection.retry();
		connection.retry();
		await retry();
		expect(program.runs).toHaveLength(2);
		await connection.close();
		await retry();
		expect(program.runs).toHaveLength(2);
	});
});

describe("a changed list of tools", () => {
	it("is read again", async () => {
		const tools = [tool];
		const { connection, program, reported } = createSubject({ tools });
		await connection.connect();
		tools.push({ ...tool, name: "new" });
		for (let n = 0; n < 5; n += 1) program.run().send({ method: "notifications/tools/list_changed" });
		await until(() => reported.at(-1) === "connected 2");
		expect(connection.tools.map(({ name }) => name)).toEqual(["echo", "new"]);
	});

	it("that is invalid leaves the present tools", async () => {
		let isBroken = false;
		const { connection, program, warnings } = createSubject({
			handle({ id, method }, run) {
				if (method !== "tools/list" || !isBroken) return false;
				run.send({ id, error: { code: -1, message: "Broken." } });
				return true;
			},
		});
		await connection.connect();
		isBroken = true;
		program.run().send({ method: "notifications/tools/list_changed" });
		await until(() => warnings.length > 0);
		expect(warnings).toEqual([
			["The changed tools of an MCP server could not be read.", { server: "srv", reason: "Broken." }],
		]);
		expect([connection.state, connection.tools.length]).toEqual(["connected", 1]);
	});
});

describe("an elicitation", () => {
	const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
	const params = { mode: "form", message: "Who?", requestedSchema };
	/** A server that asks during a call, and returns the answer it got. */
	const asking: ProgramOptions = {
		call(_, run, id) {
			run.send({ id: `ask-${id}`, method: "elicitation/create", params });
			return null;
		},
		handle({ id, method, result }, run) {
			if (method !== undefined || typeof id !== "string") return false;
			run.send({ id: Number(id.slice(4)), result: text(JSON.stringify(result)) });
			return true;
		},
	};

	it("is put to the person of the call, whose timeout is suspended", async () => {
		const { connection, clock, call } = createSubject(asking);
		await connection.connect();
		const asked: unknown[] = [];
		const questions: QuestionOperations = {
			async ask([question], toolCallId) {
				asked.push([question?.question, toolCallId]);
				clock.advance(1_000_000);
				return { kind: "answered", answers: { q: "Ada" } };
			},
		};
		expect(await call({ questions })).toEqual(answered('{"action":"accept","content":{"name":"Ada"}}'));
		expect(asked).toEqual([["The MCP server srv asks: Who?\nname", "c"]]);
	});

	it("is declined when no client supports questions", async () => {
		const { connection, call } = createSubject(asking);
		await connection.connect();
		expect(await call()).toEqual(answered('{"action":"decline"}'));
	});

	it("is declined while several calls are running", async () => {
		const { connection, program, warnings, call } = createSubject({ ...asking, call: () => null });
		await connection.connect();
		const cancel = new AbortController();
		const other: QuestionOperations = { ask: async () => ({ kind: "away" }) };
		const calls = [call({ signal: cancel.signal }), call({ questions: other, signal: cancel.signal })];
		await until(() => program.run().received.filter(({ method }) => method === "tools/call").length === 2);
		program.run().send({ id: "ask-x", method: "elicitation/create", params });
		await until(() => program.run().received.some(({ id }) => id === "ask-x"));
		expect(program.run().received.at(-1)).toMatchObject({ result: { action: "decline" } });
		expect(warnings).toHaveLength(1);
		cancel.abort();
		await Promise.all(calls);
	});

	it("outside any call is declined", async () => {
		const { connection, program } = createSubject();
		await connection.connect();
		program.run().send({ id: "ask-x", method: "elicitation/create", params });
		await until(() => program.run().received.some(({ id }) => id === "ask-x"));
		expect(program.run().received.at(-1)).toMatchObject({ result: { action: "decline" } });
	});

	it("with a URL is answered with an error", async () => {
		const { connection, program } = createSubject();
		await connection.connect();
		const page = { mode: "url", message: "Go", url: "https://h/", elicitationId: "e" };
		program.run().send({ id: "ask-x", method: "elicitation/create", params: page });
		await until(() => program.run().received.some(({ id }) => id === "ask-x"));
		expect(program.run().received.at(-1)).toHaveProperty("error");
	});
});

describe("closing", () => {
	it("ends the program by its stdin, and fails running calls", async () => {
		const { connection, program, warnings, call } = createSubject({ call: () => null });
		await connection.connect();
		const outcome = call();
		await until(() => program.run().received.some(({ method }) => method === "tools/call"));
		await connection.close();
		expect([program.run().isInputClosed, program.run().isOver]).toEqual([true, true]);
		expect(await outcome).toMatchObject({ kind: "failed" });
		expect(warnings).toEqual([]);
		await connection.connect();
		expect(program.runs).toHaveLength(1);
	});

	it("ends a program that is still starting", async () => {
		const { connection, program } = createSubject({ handle: () => true });
		const connecting = connection.connect();
		await until(() => program.runs.length === 1 && program.run().received.length > 0);
		await connection.close();
		await connecting;
		expect(program.run().isOver).toBe(true);
	});
});
