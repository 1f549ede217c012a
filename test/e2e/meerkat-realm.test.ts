// Realms of the server of many sessions, over the built executable: sessions and configuration apart from all others.
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";
import { answer, create, end, serve } from "../support/meerkat/meerkat-lines.ts";

it("a session is found by processes of its realm alone", async () => {
	const stage = createStage({ scripts: ["text: done"] });
	const root = mkdtempSync(path.join(tmpdir(), "realms-"));
	const first = serve(stage, "--realm", "dev", "--state-root", root, "--instance", "one");
	const session_id = await create(first);
	await answer(first, "hello", "capabilities/get");
	const set = await answer(first, "config", "config/patch", { patch: { max_tokens: 77 } });
	expect(set.result).toMatchObject({ realm_id: "dev", instance_id: "one", backend: "jsonl" });
	await end(first);
	expect(existsSync(path.join(root, "dev", "config.toml"))).toBe(true);

	const again = serve(stage, "--realm", "dev", "--state-root", root);
	await answer(again, "hello", "capabilities/get");
	const listed = await answer(again, "list", "session/list");
	expect(listed.result).toMatchObject({ sessions: [{ session_id, message_count: 3, is_active: false }] });
	expect((await answer(again, "read", "session/read", { session_id })).result).toMatchObject({ session_id });
	expect((await answer(again, "config", "config/get")).result).toMatchObject({ config: { max_tokens: 77 } });
	await end(again);

	for (const flags of [["--realm", "other", "--state-root", root], ["--isolated", "--state-root", root], []]) {
		const other = serve(stage, ...flags);
		await answer(other, "hello", "capabilities/get");
		expect((await answer(other, "read", "session/read", { session_id })).error).toMatchObject({ code: -32001 });
		await end(other);
	}
});

it("what another process has done in a session is in what is listed and read of it", async () => {
	const stage = createStage({ scripts: Array<string>(9).fill("text: done") });
	const root = mkdtempSync(path.join(tmpdir(), "realms-"));
	const start = async () => {
		const server = serve(stage, "--realm", "dev", "--state-root", root);
		await answer(server, "hello", "capabilities/get");
		return server;
	};
	const seen = async (server: Server, session_id: string) => {
		const { result } = await answer(server, "read", "session/read", { session_id });
		const list = await answer(server, "list", "session/list");
		return { read: result?.["message_count"], listed: list.result?.["sessions"] };
	};
	const first = await start();
	const session_id = await create(first);
	expect(await seen(first, session_id)).toMatchObject({ read: 3, listed: [{ message_count: 3 }] });
	const second = await start();
	for (const name of ["a", "b"]) await answer(second, name, "turn/start", { session_id, prompt: "go" });
	expect(await seen(second, session_id)).toMatchObject({ read: 7, listed: [{ message_count: 7 }] });
	// It hears a little later that it lost the session.
	await expect
		.poll(async () => await seen(first, session_id))
		.toMatchObject({ read: 7, listed: [{ message_count: 7 }] });
	await answer(first, "again", "turn/start", { session_id, prompt: "go" });
	expect(await seen(first, session_id)).toMatchObject({ read: 9, listed: [{ message_count: 9 }] });
	await end(first);
	await end(second);

	const third = await start();
	const content = { type: "text", text: "more" };
	const injected = await answer(third, "inject", "session/inject_context", { session_id, content });
	expect(injected.result).toEqual({ status: "applied" });
	const now = Math.floor(Date.now() / 1000);
	const { read, listed } = await seen(third, session_id);
	expect({ read, listed }).toMatchObject({ read: 9, listed: [{ session_id, message_count: 9 }] });
	const [{ created_at }] = listed as [{ created_at: number }];
	expect(created_at).toBeLessThanOrEqual(now);
	await end(third);
});

it("a realm in memory leaves no session on disk", async () => {
	const stage = createStage({ scripts: ["text: done"] });
	const root = mkdtempSync(path.join(tmpdir(), "realms-"));
	const server = serve(stage, "--realm", "dev", "--state-root", root, "--realm-backend", "memory");
	const session_id = await create(server);
	expect((await answer(server, "read", "session/read", { session_id })).result).toMatchObject({ session_id });
	await end(server);
	expect(readdirSync(root)).toEqual([]);
});
