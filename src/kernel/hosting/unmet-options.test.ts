// Creation options that cannot be met as they are: now, after an eviction, in a later process.
import { expect, it } from "vitest";
import { noProcesses } from "../../../test/support/sessions/session-doubles.ts";
import { createHost, runTurn } from "../../../test/support/sessions/session-host.ts";
import type { Processes } from "../../processes/port.ts";
import { createMemoryStore } from "../../store/memory/memory-store.ts";
import type { CreationOptions } from "../api.ts";
import { plainRequest } from "./hosted-options.ts";
import { SessionHost } from "./session-host.ts";

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
	const processes: Processes = {
		...noProcesses,
		async run({ environment }) {
			seen.push(environment["COLOUR"]);
			const none = { outputBytes: 0, truncated: false, spilledTo: null, output: "", errorOutput: "" };
			return { ...none, ended: { kind: "exited", exitCode: 0 } };
		},
	};
	const store = createMemoryStore();
	const settings = { store, processes, hooks: [{ event: "UserPromptSubmit", command: "look" }] };
	const { host, kernel } = await createHost({}, settings);
	const handle = await host.create(plainRequest);
	await runTurn(handle);
	await host.stop();
	await kernel.close();
	const { host: later } = await createHost({}, settings);
	await later.interrupt(handle.session.id);
	await runTurn(await later.acquire(handle.session.id, { environment: { COLOUR: "blue" } }));
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
