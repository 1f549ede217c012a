import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { runTurn } from "../../test/support/sessions/session-host.ts";
import { createPackageInstallation } from "../cli/installation/package.ts";
import type { Model } from "../core/models/model.ts";
import { plainRequest } from "../kernel/hosting/hosted-options.ts";
import { createHost, type HostOptions } from "./create-host.ts";

const installation = createPackageInstallation(fileURLToPath(new URL("../..", import.meta.url)));

function saying(text: string): Model {
	return {
		name: "own",
		maxContextSize: 1000,
		capabilities: new Set(),
		async *stream() {
			yield { type: "parts", parts: [{ type: "text", text }] };
			yield { type: "done", usage: null, messageId: null };
		},
	};
}

async function start(options: Partial<HostOptions> = {}) {
	const home = await mkdtemp(path.join(tmpdir(), "host-"));
	onTestFinished(() => rm(home, { recursive: true, force: true }));
	const host = await createHost({ home, installation, settings: {}, ...options });
	onTestFinished(() => host.close());
	return { home, host };
}

async function answerOf({ sessions }: Awaited<ReturnType<typeof createHost>>): Promise<unknown> {
	const handle = await sessions.create({ ...plainRequest, tools: "none" });
	await runTurn(handle);
	const { messages } = await handle.session.conversation();
	handle.release();
	return messages.at(-1)?.content;
}

it("runs several kernels in one process, each with its own home, settings and models", async () => {
	const one = await start({ models: { mine: saying("one") } });
	const other = await start({ models: { mine: saying("two") }, store: "memory" });
	expect(await Promise.all([answerOf(one.host), answerOf(other.host)])).toEqual([
		[{ type: "text", text: "one" }],
		[{ type: "text", text: "two" }],
	]);
	await one.host.close();
	expect(await answerOf(other.host)).toEqual([{ type: "text", text: "two" }]);
	expect(await readdir(one.home)).toContain("sessions");
	expect(await readdir(other.home)).not.toContain("sessions");
});

it("leaves no handler, timer, child or file behind when it is closed", async () => {
	const listeners = () => process.eventNames().flatMap((name) => process.listeners(name as "exit"));
	const resources = () =>
		process
			.getActiveResourcesInfo()
			.filter((name) => !/^(?:FSReq|Immediate)/.test(name))
			.sort();
	const before = { listeners: listeners(), resources: resources() };
	const { host } = await start({ models: { mine: saying("done") } });
	await answerOf(host);
	await host.close();
	await host.close();
	expect(listeners()).toEqual(before.listeners);
	await expect.poll(resources).toEqual(before.resources);
});

it("refuses settings that cannot be used, naming the key", async () => {
	await expect(start({ settings: { default_model: 5 } })).rejects.toThrow("default_model");
});
