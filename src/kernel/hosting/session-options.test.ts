// What sessions are created with: work directory, agent, mode, environment, permissions; how it counts after an eviction and
// in a later process, and what cannot be met.
import { describe, expect, it } from "vitest";
import { noProcesses } from "../../../test/support/sessions/session-doubles.ts";
import { createHost, type HostSettings, runTurn } from "../../../test/support/sessions/session-host.ts";
import type { SessionHandle } from "../../api/kernel.ts";
import type { McpServerSettings } from "../../api/mcp-servers.ts";
import type { CreationOptions, OpeningOptions } from "../../api/session-options.ts";
import type { Processes } from "../../ports/processes/port.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import { chooseOptions, choosePlainOptions, plainRequest } from "./hosted-options.ts";
import { SessionHost } from "./session-host.ts";

/** Programs that end at once; notes the variable COLOR of each. */
function createWatchedProcesses(seen: unknown[]): Processes {
	return {
		...noProcesses,
		async run({ environment }) {
			seen.push(environment["COLOR"]);
			const none = { outputBytes: 0, truncated: false, spilledTo: null, output: "", errorOutput: "" };
			return { ...none, ended: { kind: "exited", exitCode: 0 } };
		},
	};
}

const withOptions = (options: Partial<CreationOptions>): CreationOptions => ({ ...plainRequest, ...options });
const { budgets } = plainRequest;

it.each<Partial<CreationOptions>>([
	{ maxSteps: 0 },
	{ maxSteps: 1.5 },
	{ maxAnswerTokens: -1 },
	{ budgets: { ...budgets, turnTokens: 0 } },
	{ budgets: { ...budgets, turnSeconds: 0 } },
])("amounts that nobody could read again are refused: %j", async (odd) => {
	const { host } = await createHost();
	await expect(host.create(withOptions(odd))).rejects.toMatchObject({ code: "invalid-input" });
});

it("plan mode that was refused at the creation stays off when the session is loaded again", async () => {
	const { host, clock } = await createHost({ unload_after: 60 }, { options: { plan: true } });
	const handle = await host.create(withOptions({ tools: "all", mode: { planMode: false } }));
	await runTurn(handle);
	expect((await handle.session.snapshot()).planMode).toBe(false);
	handle.release();
	clock.advance(120_000);
	for (let n = 0; n < 50; n += 1) await new Promise(setImmediate);
	const again = await host.acquire(handle.session.id);
	expect(again.session).not.toBe(handle.session);
	expect((await again.session.snapshot()).planMode).toBe(false);
});

it("a variable of the request that is no number is an error of the request", async () => {
	const { parts } = await createHost();
	const { p } = parts.configuration.providers;
	if (p === undefined) throw new Error("there is no provider");
	const host = new SessionHost({
		...parts,
		configuration: { ...parts.configuration, providers: { p: { ...p, type: "kimi" } } },
	});
	const creating = host.create(withOptions({ environment: { KIMI_MODEL_MAX_CONTEXT_SIZE: "many" } }));
	await expect(creating).rejects.toMatchObject({ name: "KernelError", code: "invalid-input" });
});

it("a session whose agent file is gone is interrupted and archived", async () => {
	const store = createMemoryStore();
	const { host, kernel } = await createHost({}, { store });
	const handle = await host.create(withOptions({ agent: "/work/reader.yaml", tools: "all" }));
	await runTurn(handle);
	await host.stop();
	await kernel.close();
	const { host: later, files } = await createHost({}, { store });
	await files.remove("/work/reader.yaml");
	expect(await later.interrupt(handle.session.id)).toBe(false);
	await later.archive(handle.session.id);
});

it("the environment counts for whoever opens the session first, not for who interrupts it", async () => {
	const seen: unknown[] = [];
	const processes = createWatchedProcesses(seen);
	const store = createMemoryStore();
	const settings = { store, processes, hooks: [{ event: "UserPromptSubmit", command: "look" }] };
	const { host, kernel } = await createHost({}, settings);
	const handle = await host.create(plainRequest);
	await runTurn(handle);
	await host.stop();
	await kernel.close();
	const { host: later } = await createHost({}, settings);
	await later.interrupt(handle.session.id);
	await runTurn(await later.acquire(handle.session.id, { environment: { COLOR: "blue" } }));
	expect(seen).toEqual([undefined, "blue"]);
});

it("a session that is acquired while it is interrupted or archived stays the one that its front end has, or is gone", async () => {
	const store = createMemoryStore();
	const { host, kernel } = await createHost({}, { store });
	const handle = await host.create(plainRequest);
	await runTurn(handle);
	const { id } = handle.session;
	await host.stop();
	await kernel.close();
	const { host: later } = await createHost({}, { store });
	const [acquired, isInterrupted] = await Promise.all([later.acquire(id), later.interrupt(id)]);
	expect(isInterrupted).toBe(false);
	expect((await later.acquire(id)).session).toBe(acquired.session);
	await runTurn(acquired);
	const { host: last } = await createHost({}, { store });
	const [held] = await Promise.all([last.acquire(id), last.archive(id)]);
	held.release();
	await expect(last.acquire(id)).rejects.toMatchObject({ code: "session-not-found" });
	expect(await last.loaded()).toEqual([]);
});

describe("the creation options of a session", () => {
	const create = async (
		request: Partial<CreationOptions>,
		settings: HostSettings = {},
	): Promise<SessionHandle & { readonly again: () => Promise<SessionHandle> }> => {
		const store = createMemoryStore();
		const { host } = await createHost({}, { store, ...settings });
		const handle = await host.create({ ...plainRequest, ...request });
		return {
			...handle,
			/** In a later process. */
			async again() {
				await runTurn(handle);
				await host.stop();
				const { host: later } = await createHost({}, { store, ...settings });
				return await later.acquire(handle.session.id);
			},
		};
	};

	it("give sessions of one process different work directories, in which they are found again", async () => {
		const store = createMemoryStore();
		const { host } = await createHost({}, { store });
		const one = await host.create(plainRequest);
		const other = await host.create({ ...plainRequest, workDir: "/other/", additionalDirs: ["/more"] });
		expect([one.session.workDir, other.session.workDir, other.info.workDir]).toEqual(["/work", "/other", "/other"]);
		await runTurn(one);
		await runTurn(other);
		await host.stop();
		const { host: later } = await createHost({}, { store });
		expect((await later.acquire(other.session.id)).session.workDir).toBe("/other");
		const idsIn = async (workDir: string) => (await later.list({ workDir })).sessions.map(({ id }) => id);
		expect(await idsIn("/other")).toEqual([other.session.id]);
		expect(await idsIn("/work")).toEqual([one.session.id]);
		expect((await later.list({})).sessions).toHaveLength(2);
	});

	it.each([
		[{ workDir: "other" }, "The work directory must be an absolute path"],
		[{ additionalDirs: ["/more "] }, "The added directory must be an absolute path without blanks around it"],
		[{ workDir: "/nowhere" }, "The work directory /nowhere does not exist."],
		[{ workDir: "/work/reader.yaml" }, "The work directory /work/reader.yaml is not a directory."],
		[{ workDir: "/a\0b" }, "must be an absolute path"],
		[{ additionalDirs: ["/nowhere"] }, "The added directory /nowhere does not exist."],
		[{ agent: "reader" }, "There is no agent reader: name a built-in one (default, okabe)"],
		[{ agent: "/work/nothing.yaml" }, "/work/nothing.yaml"],
	])("are refused when they name what there is not: %j", async (request, message) => {
		await expect(create(request)).rejects.toMatchObject({
			code: "invalid-input",
			message: expect.stringContaining(message),
		});
	});

	it("choose the agent, which must be there when the session is opened again", async () => {
		const store = createMemoryStore();
		const { host } = await createHost({}, { store });
		const handle = await host.create({ ...plainRequest, agent: "/work/reader.yaml", tools: "all" });
		await runTurn(handle);
		await host.stop();
		const opened = async (hasFile: boolean) => {
			const { host: later, files } = await createHost({}, { store });
			if (!hasFile) await files.remove("/work/reader.yaml");
			return await later.acquire(handle.session.id);
		};
		expect((await opened(true)).info.model).toBe("echo");
		await expect(opened(false)).rejects.toMatchObject({ code: "invalid-input" });
	});

	it("restrict the tools of the agent that they name", async () => {
		const { parts } = await createHost();
		const choose = async (request: Partial<CreationOptions>) =>
			(await chooseOptions(parts, { ...plainRequest, ...request })).options;
		const agent = "/work/reader.yaml";
		expect((await choose({ agent, tools: "all" })).agent?.toolPaths).toEqual(["kimi_cli.tools.file:ReadFile"]);
		expect((await choose({ agent })).agent?.toolPaths).toEqual([]);
		expect((await choose({ agent: "okabe", tools: "all" })).agent?.name).toBe("okabe");
	});

	it("have MCP servers instead of those of the process, whatever else the tools are", async () => {
		const filter = { names: null, hidden: [], includeTags: null, excludeTags: [] };
		const local = { kind: "local", command: "serve", arguments: [], environment: {}, workDir: null } as const;
		const server = (name: string): McpServerSettings => ({ ...local, name, callTimeout: null, filter });
		const { parts } = await createHost({}, { options: { mcpServers: [server("common")] } });
		const choose = async (request: Partial<CreationOptions>) =>
			(await chooseOptions(parts, { ...plainRequest, ...request })).options.mcpServers;
		expect(await choose({})).toEqual([]);
		expect(await choose({ tools: "all" })).toEqual([server("common")]);
		expect(await choose({ tools: "all", mcpServers: [server("own")] })).toEqual([server("own")]);
		expect(await choose({ mcpServers: [server("own")] })).toEqual([server("own")]);
		const opened = choosePlainOptions(parts, "/work", { mcpServers: [server("own")] });
		expect(opened.options.mcpServers).toEqual([server("own")]);
	});

	it("have MCP servers in addition to the others, which count over others of the same name", async () => {
		const filter = { names: null, hidden: [], includeTags: null, excludeTags: [] };
		const server = (name: string, command: string): McpServerSettings => ({
			kind: "local",
			command,
			arguments: [],
			environment: {},
			workDir: null,
			name,
			callTimeout: null,
			filter,
		});
		const common = [server("a", "common"), server("b", "common")];
		const { parts } = await createHost({}, { options: { mcpServers: common } });
		const choose = async (request: Partial<CreationOptions>) =>
			(await chooseOptions(parts, { ...plainRequest, ...request })).options.mcpServers.map(
				(each) => each.kind === "local" && `${each.name}: ${each.command}`,
			);
		const addedMcpServers = [server("b", "added"), server("c", "added")];
		expect(await choose({ tools: "all", addedMcpServers })).toEqual(["a: common", "b: added", "c: added"]);
		expect(await choose({ addedMcpServers })).toEqual(["b: added", "c: added"]);
		const own = { mcpServers: [server("d", "own")], addedMcpServers };
		expect(await choose({ tools: "all", ...own })).toEqual(["d: own", "b: added", "c: added"]);
		expect(choosePlainOptions(parts, "/work", { addedMcpServers }).options.mcpServers).toEqual(addedMcpServers);
	});

	it("refuse plan mode where the agent has no tools for it", async () => {
		const request = { agent: "/work/reader.yaml", tools: "all", mode: { planMode: true } } as const;
		await expect(create(request)).rejects.toMatchObject({ code: "unsupported" });
	});

	it("begin it in a mode, which is a part of its state from then on", async () => {
		const mode = { planMode: true, approvesEverything: true, isAway: true };
		const { session, again } = await create({ tools: "all", mode });
		expect(await session.snapshot()).toMatchObject(mode);
		const later = (await again()).session;
		expect(await later.snapshot()).toMatchObject(mode);
	});

	it("switch a mode off that the process is in", async () => {
		const mode = { planMode: false, approvesEverything: false, isAway: false };
		const options = { yolo: true, plan: true, afk: true };
		const { session, again } = await create({ tools: "all", mode }, { options });
		expect(await session.snapshot()).toMatchObject(mode);
		const { session: plain } = await create({ tools: "all" }, { options });
		expect(await plain.snapshot()).toMatchObject({ planMode: true, approvesEverything: true, isAway: true });
		expect(await (await again()).session.snapshot()).toMatchObject({ approvesEverything: false, isAway: false });
	});

	it("add to the environment of its hooks, and of no other session's", async () => {
		const seen: unknown[] = [];
		const processes = createWatchedProcesses(seen);
		const settings = { processes, hooks: [{ event: "UserPromptSubmit", command: "look" }] };
		const { host } = await createHost({}, settings);
		await runTurn(await host.create({ ...plainRequest, environment: { COLOR: "red" } }));
		await runTurn(await host.create(plainRequest));
		expect(seen).toEqual(["red", undefined]);
	});

	it("approve from the beginning what patterns of rules name, and nothing unsound", async () => {
		const store = createMemoryStore();
		const { host } = await createHost({}, { store });
		const { session } = await host.create({ ...plainRequest, permissions: { grants: ["Write(src/**)"] } });
		await runTurn(await host.acquire(session.id));
		await host.stop();
		const stored = await store.openOrCreate("/work", session.id);
		expect(stored.state().approval.autoApproveActions).toEqual(["Write(src/**)"]);
		const unsound = { ...plainRequest, permissions: { grants: ["run command"] } };
		await expect((await createHost({}, {})).host.create(unsound)).rejects.toThrow(
			'The grant "run command" cannot be used: it must begin with one of Shell,',
		);
	});
});

describe("a stored session that is acquired", () => {
	const toolsOf = async ({ session }: SessionHandle) =>
		(await session.attach({ client: null, capabilities: [], hooks: null, tools: [declare("Shell")] })).tools.rejected;
	const declare = (name: string) => ({ name, description: "", parameters: { type: "object" } });
	/** Begun as by print mode or a dialect of one session, without creation options. */
	async function createPlain() {
		const store = createMemoryStore();
		const stored = await store.openOrCreate("/work", "s1");
		await stored.commit({ context: { kind: "append", rows: [{ type: "system-prompt", content: "x" }] } });
		await stored.commit({ state: { customTitle: "Begun" } });
		await stored.close();
		return store;
	}

	it("has all tools when it has no creation options, or those that the opening names, each time", async () => {
		const store = await createPlain();
		const acquire = async (options: OpeningOptions) => {
			const { host, kernel } = await createHost({}, { store });
			const rejected = await toolsOf(await host.acquire("s1", options));
			await host.stop();
			await kernel.close();
			return rejected.length > 0;
		};
		expect(await acquire({})).toBe(true);
		expect(await acquire({ defaultTools: "none" })).toBe(false);
		expect(await acquire({ defaultTools: "without-commands" })).toBe(false);
		expect(await acquire({})).toBe(true);
	});

	it("keeps the tools of its creation options, and has none when those cannot be read", async () => {
		const store = createMemoryStore();
		const { host, kernel } = await createHost({}, { store });
		const handle = await host.create(plainRequest);
		await runTurn(handle);
		await host.stop();
		await kernel.close();
		const stored = await store.openOrCreate("/work", "s2");
		await stored.commit({ context: { kind: "append", rows: [{ type: "system-prompt", content: "x" }] } });
		await stored.commit({ state: { customTitle: "Begun", creationOptions: { tools: "every" } } });
		await stored.close();
		const { host: later } = await createHost({}, { store });
		for (const id of [handle.session.id, "s2"])
			expect(await toolsOf(await later.acquire(id, { defaultTools: "all" }))).toEqual([]);
	});

	it("gets further roots of its workspace, which stay", async () => {
		const store = await createPlain();
		const { host, kernel } = await createHost({}, { store });
		await runTurn(await host.acquire("s1", { additionalDirs: ["/more"] }));
		await host.stop();
		await kernel.close();
		const { host: later, kernel: second } = await createHost({}, { store });
		await runTurn(await later.acquire("s1", { additionalDirs: ["/more", "/other/"] }));
		await later.stop();
		await second.close();
		expect((await store.openOrCreate("/work", "s1")).state().additionalDirs).toEqual(["/more", "/other"]);
	});

	it.each(["/missing", "relative"])("is not opened with the directory %s", async (directory) => {
		const store = await createPlain();
		const { host } = await createHost({}, { store });
		await expect(host.acquire("s1", { additionalDirs: [directory] })).rejects.toMatchObject({ code: "invalid-input" });
		expect((await host.acquire("s1")).session.id).toBe("s1");
	});
});

/** Runs a turn in which the model calls ReadFile; the lines that it is shown. */
async function readFileIn({ session, startTurn }: SessionHandle, path: string): Promise<unknown> {
	const { events, close } = await session.attach({ client: null, tools: [], capabilities: [], hooks: null });
	const call = { id: "c1", name: "ReadFile", arguments: JSON.stringify({ path }) };
	await startTurn(`tool_call: ${JSON.stringify(call)}`);
	let output: unknown = null;
	for await (const batch of events) {
		for (const { body } of batch) if (body.type === "tool.result") output = body.result.output;
		if (batch.some(({ body }) => body.type === "turn.ended")) break;
	}
	close();
	return output;
}

it("files of an editor are those of whoever opens the session, and are never stored", async () => {
	const store = createMemoryStore();
	const models = { m: { provider: "p", model: "echo", max_context_size: 100_000 } };
	const { host, kernel, files } = await createHost({}, { store, models });
	await files.replace("/work/a.txt", "saved");
	const editorFiles = { read: async (path: string) => `unsaved ${path}` };
	const handle = await host.create(withOptions({ tools: "all", editorFiles }));
	expect(await readFileIn(handle, "a.txt")).toBe("     1\tunsaved /work/a.txt");
	await host.stop();
	await kernel.close();
	const later = await createHost({}, { store, models });
	await later.files.replace("/work/a.txt", "saved");
	const again = await later.host.acquire(handle.session.id);
	expect(await readFileIn(again, "a.txt")).toBe("     1\tsaved");
	again.release();
	await later.host.unload(handle.session.id);
	const third = await later.host.acquire(handle.session.id, { editorFiles });
	expect(await readFileIn(third, "a.txt")).toBe("     1\tunsaved /work/a.txt");
});
