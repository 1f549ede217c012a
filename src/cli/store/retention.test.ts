import { describe, expect, it } from "vitest";
import type { SessionSummary } from "../../api/session-list.ts";
import { KernelError } from "../../base/errors.ts";
import { retireSessions } from "./retention.ts";

const day = 86_400_000;
const now = 100 * day;

const row = (id: string, age: number, archived: number | null = null): SessionSummary => ({
	id,
	workDir: "/work",
	title: id,
	updatedAt: now - age * day,
	archivedAt: archived === null ? null : now - archived * day,
});

const archive = { name: "archive", olderThan: 30 * day, json: false } as const;
const remove = (isArchived: boolean) => ({ name: "delete", olderThan: 30 * day, isArchived, json: false }) as const;

/** A store whose sessions cannot be touched where a text says why. */
function createStore(refusals: Readonly<Record<string, KernelError>> = {}) {
	const touched: string[] = [];
	const touch = async (_workDir: string, id: string) => {
		const refusal = refusals[id];
		if (refusal !== undefined) throw refusal;
		touched.push(id);
	};
	const store = {
		delete: touch,
		async open(workDir: string, id: string) {
			await touch(workDir, id);
			return null;
		},
	};
	return { store, touched };
}

describe("retireSessions", () => {
	it("takes those that are old enough", async () => {
		const sessions = [row("old", 31), row("put-away", 90, 31), row("just-put-away", 90, 1), row("young", 29)];
		const done = async (action: Parameters<typeof retireSessions>[2]) =>
			(await retireSessions(createStore().store, sessions, action, now)).done;
		expect(await done(archive)).toEqual(["old"]);
		expect(await done(remove(false))).toEqual(["old", "put-away", "just-put-away"]);
		expect(await done(remove(true))).toEqual(["put-away"]);
	});

	it.each([["archive", archive] as const, ["delete", remove(false)] as const])(
		"goes on after sessions that are open or fail, and says which: %s",
		async (_, action) => {
			const { store, touched } = createStore({
				broken: new KernelError("storage-failed", "Cannot write it."),
				held: new KernelError("busy", "Another process has it open."),
			});
			const sessions = [row("broken", 50), row("one", 45), row("held", 40), row("two", 35)];
			expect(await retireSessions(store, sessions, action, now)).toEqual({
				done: ["one", "two"],
				open: ["held"],
				failed: [{ session: "broken", reason: "Cannot write it." }],
			});
			expect(touched).toEqual(["one", "two"]);
		},
	);
});
