// Realms of the server of many sessions, over the built executable: sessions and configuration apart from all others.
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
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

it("a realm in memory leaves no session on disk", async () => {
	const stage = createStage({ scripts: ["text: done"] });
	const root = mkdtempSync(path.join(tmpdir(), "realms-"));
	const server = serve(stage, "--realm", "dev", "--state-root", root, "--realm-backend", "memory");
	const session_id = await create(server);
	expect((await answer(server, "read", "session/read", { session_id })).result).toMatchObject({ session_id });
	await end(server);
	expect(readdirSync(root)).toEqual([]);
});
