import { expect, it } from "vitest";
import { createSpokenServer } from "../../../test/support/meerkat/spoken-server.ts";
import { isRecord } from "../../base/json.ts";
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
