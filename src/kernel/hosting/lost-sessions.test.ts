import { expect, it } from "vitest";
import { attachReader } from "../../../test/support/protocol/event-reader.ts";
import { createHost, runTurn } from "../../../test/support/sessions/session-host.ts";
import { createDeferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { SessionStore, StoredSession } from "../../ports/store/session-store.ts";
import { plainRequest } from "./hosted-options.ts";
import { SessionHost } from "./session-host.ts";

it("of a worker: drops a session that another process has taken over, and loads it anew for whoever acquires it", async () => {
	const inner = createMemoryStore();
	const losses: ReturnType<typeof createDeferred<KernelError>>[] = [];
	const withLoss = (stored: StoredSession): StoredSession => {
		const loss = createDeferred<KernelError>();
		losses.push(loss);
		return { ...stored, lost: loss.promise };
	};
	const store: SessionStore = {
		...inner,
		openOrCreate: async (...place) => withLoss(await inner.openOrCreate(...place)),
	};
	const { parts } = await createHost({ loaded_sessions: 1 }, { store });
	const host = new SessionHost({ ...parts, endsInterruptedTurns: true });
	const handle = await host.create(plainRequest);
	await runTurn(handle);
	const { attachment } = await attachReader(handle.session, { reads: false });
	losses[0]?.resolve(new KernelError("storage-failed", "another process has taken over the session."));
	// Its clients learn of it by the end of their events.
	for await (const _ of attachment.events);
	await expect.poll(async () => (await host.loaded()).length).toBe(0);
	const again = await host.acquire(handle.session.id);
	expect(again.session).not.toBe(handle.session);
	await runTurn(again);
	// The release of the one that was lost is not one of this.
	handle.release();
	await expect(host.create(plainRequest)).rejects.toMatchObject({ code: "overloaded" });
	again.release();
});
