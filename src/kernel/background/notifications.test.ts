// The delivery of notifications to client and model, over a store in memory.
import { beforeEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import { textPart } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { EventBody } from "../../api/values/event.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { Notification, StoredNotifications } from "../../ports/store/stored-tasks.ts";
import { Notifications } from "./notifications.ts";

const about = (id: string, now: number, changes: Partial<Notification> = {}): Notification => ({
	id,
	category: "task",
	type: "task.completed",
	sourceKind: "background_task",
	sourceId: "bash-00000001",
	title: "Done",
	body: "It is done.",
	severity: "success",
	createdAt: now,
	payload: {},
	targets: ["llm", "wire", "shell"],
	dedupeKey: null,
	...changes,
});

const message = (text: string): HistoryEntry => ({ role: "user", content: [textPart(text)] });

describe("the notifications of a session", () => {
	let stored: StoredNotifications;
	let clock: FakeClock;
	let ids: number;
	const log = createMemoryLog();

	beforeEach(async () => {
		stored = (await createMemoryStore().openOrCreate("/w", "s")).notifications;
		clock = createFakeClock();
		ids = 0;
		log.lines.length = 0;
	});

	const create = (store: StoredNotifications = stored) =>
		new Notifications({
			stored: store,
			clock,
			identifiers: { uuid: () => "", hex: (length) => (++ids).toString(16).padStart(length, "0") },
			log,
			claimStaleAfter: 15_000,
			describeSource: async ({ sourceId }) => (sourceId === "silent" ? null : `about ${sourceId}`),
		});
	const createDelivered = () => {
		const delivered: string[] = [];
		const deliver = async (body: EventBody) => {
			if (body.type === "notification.raised") delivered.push(body.id);
		};
		return { delivered, deliver };
	};
	const acknowledged = async () =>
		(await stored.list()).map(({ notification, delivery }) => [
			notification.id,
			Object.entries(delivery).flatMap(([sink, { status }]) => (status === "acked" ? [sink] : [])),
		]);
	/** Lets all pending promises settle. */
	const settle = () => new Promise((resolve) => setImmediate(resolve));

	it("wait for a turn, are emitted at its start, then immediately, and once more before its end", async () => {
		const notifications = create();
		const { delivered, deliver } = createDelivered();
		await notifications.publish((id, now) => about(id, now));
		await settle();
		expect(delivered).toEqual([]);
		await notifications.openTurn(deliver);
		expect(delivered).toEqual(["n00000001"]);
		await notifications.publish((id, now) => about(id, now));
		await settle();
		expect(delivered).toEqual(["n00000001", "n00000002"]);
		void notifications.publish((id, now) => about(id, now));
		await settle();
		await notifications.closeTurn();
		expect(delivered).toEqual(["n00000001", "n00000002", "n00000003"]);
		await notifications.publish((id, now) => about(id, now));
		await settle();
		expect(delivered).toHaveLength(3);
		expect(await acknowledged()).toEqual([
			["n00000001", ["wire"]],
			["n00000002", ["wire"]],
			["n00000003", ["wire"]],
			["n00000004", []],
		]);
	});

	it("that are being persisted are waited for when a turn begins", async () => {
		const hold = createDeferred<void>();
		const slow: StoredNotifications = {
			...stored,
			async add(persisted) {
				await hold.promise;
				await stored.add(persisted);
			},
		};
		const notifications = create(slow);
		const { delivered, deliver } = createDelivered();
		void notifications.publish((id, now) => about(id, now));
		await settle();
		const opened = notifications.openTurn(deliver);
		hold.resolve();
		await opened;
		expect(delivered).toEqual(["n00000001"]);
	});

	it("are emitted with all fields", async () => {
		const notifications = create();
		const bodies: EventBody[] = [];
		await notifications.publish((id, now) => about(id, now, { payload: { exit_code: 0 } }));
		await notifications.openTurn(async (body) => void bodies.push(body));
		expect(bodies).toEqual([
			{
				type: "notification.raised",
				id: "n00000001",
				category: "task",
				notification_type: "task.completed",
				source_kind: "background_task",
				source_id: "bash-00000001",
				title: "Done",
				body: "It is done.",
				severity: "success",
				created_at: clock.now() / 1000,
				payload: { exit_code: 0 },
			},
		]);
	});

	it("are unique for each key, in a later run too", async () => {
		const keyed = (id: string, now: number) => about(id, now, { dedupeKey: "once" });
		const notifications = create();
		await notifications.publish(keyed);
		await notifications.publish(keyed);
		await create().publish(keyed);
		expect(await acknowledged()).toHaveLength(1);
	});

	it("that could not be emitted wait for the next turn", async () => {
		const notifications = create();
		const { delivered, deliver } = createDelivered();
		await notifications.publish((id, now) => about(id, now));
		await notifications.openTurn(() => Promise.reject(new Error("disk full")));
		await notifications.closeTurn();
		expect(await acknowledged()).toEqual([["n00000001", []]]);
		await notifications.openTurn(deliver);
		expect(delivered).toEqual(["n00000001"]);
	});

	it("go to the model once, up to four per step, each with the state of its source", async () => {
		const notifications = create();
		for (let n = 1; n <= 5; n += 1) await notifications.publish((id, now) => about(id, now));
		await notifications.publish((id, now) => about(id, now, { sourceId: "silent" }));
		const first = await notifications.notices([]);
		expect(first).toHaveLength(4);
		expect(first[0]?.text).toMatch(
			/^<notification id="n00000001" [^>]*>\nTitle: Done\n.*\nIt is done\.\nabout bash-00000001\n<\/notification>$/,
		);
		expect(first[0]?.hook).toEqual({
			event: "Notification",
			target: "task.completed",
			input: {
				sink: "llm",
				notification_type: "task.completed",
				title: "Done",
				body: "It is done.",
				severity: "success",
			},
		});
		for (const { persisted } of first) await persisted();
		const second = await notifications.notices([]);
		expect(second.map(({ text }) => /id="(\w+)"/.exec(text)?.[1])).toEqual(["n00000005", "n00000006"]);
		expect(second[1]?.text).toMatch(/It is done\.\n<\/notification>$/);
		for (const { persisted } of second) await persisted();
		expect(await notifications.notices([])).toEqual([]);
		expect(await create().notices([])).toEqual([]);
	});

	it("are added again until they were persisted", async () => {
		const notifications = create();
		await notifications.publish((id, now) => about(id, now));
		expect(await notifications.notices([])).toHaveLength(1);
		expect(await notifications.notices([])).toHaveLength(1);
	});

	it("that are already in a context are acknowledged and not repeated", async () => {
		const before = create();
		await before.publish((id, now) => about(id, now));
		await before.publish((id, now) => about(id, now));
		const messages = [message("hi"), message('<notification id="n00000001" category="task">\n</notification>')];
		const notices = await create().notices(messages);
		expect(notices.map(({ text }) => /id="(\w+)"/.exec(text)?.[1])).toEqual(["n00000002"]);
		expect(await acknowledged()).toEqual([
			["n00000001", ["llm"]],
			["n00000002", []],
		]);
	});

	it("reach only their targets", async () => {
		const notifications = create();
		const { delivered, deliver } = createDelivered();
		await notifications.publish((id, now) => about(id, now, { targets: ["llm"] }));
		await notifications.publish((id, now) => about(id, now, { targets: ["wire"] }));
		await notifications.openTurn(deliver);
		expect(delivered).toEqual(["n00000002"]);
		expect(await notifications.notices([])).toHaveLength(1);
	});

	it("that another program has claimed remain claimed for a while", async () => {
		const claimed = { status: "claimed", claimedAt: clock.now(), ackedAt: null } as const;
		await stored.add({ notification: about("n00000009", 1), delivery: { wire: claimed, llm: claimed } });
		const notifications = create();
		const { delivered, deliver } = createDelivered();
		await notifications.openTurn(deliver);
		expect([delivered, await notifications.notices([])]).toEqual([[], []]);
		clock.advance(15_001);
		await notifications.closeTurn();
		expect(delivered).toEqual(["n00000009"]);
		expect(await notifications.notices([])).toHaveLength(1);
	});

	it("whose delivery cannot be recorded count as delivered, which is logged", async () => {
		const failing: StoredNotifications = {
			...stored,
			setDelivery: () => Promise.reject(new Error("disk full")),
		};
		const notifications = create(failing);
		await notifications.publish((id, now) => about(id, now));
		for (const { persisted } of await notifications.notices([])) await persisted();
		expect(await notifications.notices([])).toEqual([]);
		expect(log.lines).toMatchObject([{ level: "warn", fields: { sink: "llm", cause: "disk full" } }]);
	});

	it("that cannot be read are not delivered, and no duplicate is added", async () => {
		let isBroken = true;
		const failing: StoredNotifications = {
			...stored,
			any: async () => {
				if (isBroken) throw new Error("no permission");
				return stored.any();
			},
		};
		await stored.add({ notification: about("n00000009", 1, { dedupeKey: "once" }), delivery: {} });
		const notifications = create(failing);
		await notifications.publish((id, now) => about(id, now, { dedupeKey: "once" }));
		expect(await notifications.notices([])).toEqual([]);
		const unread = {
			level: "warn",
			message: "The notifications could not be read.",
			fields: { cause: "no permission" },
		};
		expect(log.lines).toEqual([unread, unread]);
		isBroken = false;
		await notifications.publish((id, now) => about(id, now, { dedupeKey: "once" }));
		expect((await notifications.notices([])).map(({ text }) => /id="(\w+)"/.exec(text)?.[1])).toEqual(["n00000009"]);
	});
});
