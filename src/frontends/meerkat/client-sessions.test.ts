import { expect, it } from "vitest";
import { createSpokenServer } from "../../../test/support/meerkat/spoken-server.ts";
import { hostedPlace } from "../../../test/support/sessions/hosted-server.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { systemClock } from "../../base/clock.ts";
import { isRecord } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import { createDiskStore } from "../../ports/store/disk/disk-store.ts";
import { toDirectoryName } from "../../ports/store/disk/work-dir.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";

it("reads of a session that is loaded again what was added, and still knows all of it", async () => {
	const inner = createMemoryStore();
	const asked: (number | undefined)[] = [];
	const watched = <Session extends StoredSession>(session: Session): Session => ({
		...session,
		events(after) {
			asked.push(after);
			return session.events(after);
		},
	});
	const store: typeof inner = {
		...inner,
		async view(...given) {
			const view = await inner.view(...given);
			return view === null ? null : watched(view);
		},
	};
	const server = await createSpokenServer(["one two"], store, { loadedSessions: 1 });
	const make = async () => {
		const { result } = await server.ask("session/create", { prompt: "hello" });
		return isRecord(result) ? String(result["session_id"]) : "";
	};
	const [first, second] = [await make(), await make()];
	for (const session_id of [first, second, first, second])
		await server.ask("turn/start", { session_id, prompt: "more" });
	expect(asked.length).toBeGreaterThan(2);
	expect(asked.filter((after) => after === undefined || after === 0)).toEqual([]);
	const { result } = await server.ask("session/read", { session_id: first });
	expect(result).toMatchObject({ message_count: 7 });
	await server.end();
});

/** Servers of one disk, each of which says two words in every turn: 15 tokens. */
function shareDisk() {
	const files = createMemoryFiles();
	const options = { files, shareDir: "/share", log: silentLog, clock: systemClock, protocolVersion: "1.10" };
	const serve = async () => {
		const server = await createSpokenServer(["one two"], createDiskStore(options), { loadedSessions: 1 });
		const create = async () => {
			const { result } = await server.ask("session/create", { prompt: "hello" });
			return isRecord(result) ? String(result["session_id"]) : "";
		};
		const tokensAfterTurn = async (session_id: string) => {
			const { result } = await server.ask("turn/start", { session_id, prompt: "more" });
			return isRecord(result) && isRecord(result["usage"]) ? result["usage"]["total_tokens"] : null;
		};
		return { ...server, create, tokensAfterTurn };
	};
	return { files, serve };
}

it("reads all of a session again in which another process ran turns", async () => {
	const { serve } = shareDisk();
	const [one, two] = [await serve(), await serve()];
	const id = await one.create();
	await one.tokensAfterTurn(id);
	await two.tokensAfterTurn(id);
	await two.tokensAfterTurn(id);
	await one.tokensAfterTurn(id);
	await one.create();
	expect(await one.tokensAfterTurn(id)).toBe(6 * 15);
	await one.end();
	await two.end();
});

it("keeps what was counted of a history that is older than the journal when the session is read meanwhile", async () => {
	const { files, serve } = shareDisk();
	const one = await serve();
	const id = await one.create();
	await one.end();
	await files.remove(`/share/sessions/${toDirectoryName(hostedPlace.workDir)}/${id}/journal.jsonl`);
	const two = await serve();
	const first = Number(await two.tokensAfterTurn(id));
	await two.ask("session/read", { session_id: id });
	await two.create();
	expect(await two.tokensAfterTurn(id)).toBe(first + 15);
	await two.end();
});
