// The notifications of a session on their way: kept once, told to the client while a turn runs, given to the model at
// its next step. What has arrived is noted behind it: after a crash something may be told twice, never not at all.
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Log } from "../../base/log.ts";
import type { HistoryEntry } from "../../events/conversation.ts";
import type { EventBody } from "../../events/event.ts";
import type { HookPoint } from "../../hooks/hook.ts";
import { newDelivery } from "../../store/disk/notification-files.ts";
import {
	type Notification,
	pendingDelivery,
	type StoredNotification,
	type StoredNotifications,
} from "../../store/stored-tasks.ts";
import type { EmitInTurn } from "../turn/turn-dependencies.ts";
import { notificationIdOf, toNoticeText } from "./task-notification.ts";

/** Notifications that the model is given at one step. */
const noticesPerStep = 4;

type Sink = "llm" | "wire";

/** A notification for the model. */
export interface AgentNotice {
	readonly text: string;
	/** The hooks that run when the model is given it. */
	readonly hook: HookPoint;
	/** To be called once the text is in the context. */
	persisted(): Promise<void>;
}

export interface NotificationSettings {
	readonly stored: StoredNotifications;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly log: Log;
	/** Milliseconds after which another program's claim to a delivery counts as given up. */
	readonly claimStaleAfter: number;
	/** What the model is told beside the notification; null for nothing. */
	describeSource(notification: Notification): Promise<string | null>;
}

/** Null for no notification after all. */
type MakeNotification = (id: string, now: number) => Notification | null;

export class Notifications {
	readonly #settings: NotificationSettings;
	readonly #known = new Map<string, StoredNotification>();
	readonly #keys = new Set<string>();
	readonly #queue = createKeyedQueue();
	/** What is on its way to the store. */
	readonly #persistence = new Set<Promise<void>>();
	#loading: Promise<boolean> | null = null;
	/** Tells an event in the running turn; null between turns. */
	#deliver: EmitInTurn | null = null;

	constructor(settings: NotificationSettings) {
		this.#settings = settings;
	}

	/** Keeps the notification that `make` gives for a fresh id, unless one of its key is there, and tells it in a turn. */
	async publish(make: MakeNotification): Promise<void> {
		const persistence = this.#persist(make);
		this.#persistence.add(persistence);
		try {
			await persistence;
		} finally {
			this.#persistence.delete(persistence);
		}
		void this.#deliverPending();
	}

	async #persist(make: MakeNotification): Promise<void> {
		// Without knowing what is there already nothing is added: the next opening makes up for it.
		if (!(await this.load())) return;
		const { stored, identifiers, clock } = this.#settings;
		const notification = make(`n${identifiers.hex(8)}`, clock.now());
		if (notification === null) return;
		const { id, dedupeKey, targets } = notification;
		if (dedupeKey !== null && this.#keys.has(dedupeKey)) return;
		if (dedupeKey !== null) this.#keys.add(dedupeKey);
		const persisted = { notification, delivery: newDelivery(targets) };
		try {
			await stored.add(persisted);
		} catch (thrown) {
			if (dedupeKey !== null) this.#keys.delete(dedupeKey);
			throw thrown;
		}
		this.#known.set(id, persisted);
	}

	/** A turn has begun: tells what waits, and from now on whatever comes. What is just being kept counts as waiting. */
	async openTurn(deliver: EmitInTurn): Promise<void> {
		await Promise.allSettled(this.#persistence);
		this.#deliver = deliver;
		await this.#deliverPending();
	}

	/** The turn is about to end: tells what still waits, and then nothing until the next. */
	async closeTurn(): Promise<void> {
		await Promise.allSettled(this.#persistence);
		await this.#deliverPending();
		this.#deliver = null;
	}

	/** Whether the model has not been given all there is for it. */
	async hasNotices(): Promise<boolean> {
		await Promise.allSettled(this.#persistence);
		await this.load();
		return this.#pending("llm").length > 0;
	}

	/** What the model is to be given now. What its context already has, a crash kept from being noted. */
	async notices(messages: readonly HistoryEntry[]): Promise<readonly AgentNotice[]> {
		await this.load();
		if (this.#pending("llm").length === 0) return [];
		const present = new Set(messages.map(idIn));
		for (const { notification } of this.#pending("llm")) {
			if (present.has(notification.id)) await this.#acknowledge(notification.id, "llm");
		}
		return await Promise.all(
			this.#pending("llm")
				.slice(0, noticesPerStep)
				.map((persisted) => this.#toNotice(persisted)),
		);
	}

	async #toNotice({ notification }: StoredNotification): Promise<AgentNotice> {
		const { id, type, title, body, severity } = notification;
		const more = await this.#settings.describeSource(notification);
		return {
			text: toNoticeText(notification, more),
			hook: {
				event: "Notification",
				target: type,
				input: { sink: "llm", notification_type: type, title, body, severity },
			},
			persisted: () => this.#acknowledge(id, "llm"),
		};
	}

	/** Reads what is stored, once. False when it could not be read, which is logged and left for another try. */
	load(): Promise<boolean> {
		this.#loading ??= this.#read().then(
			() => true,
			(thrown: unknown) => {
				this.#loading = null;
				this.#settings.log.warn("The notifications could not be read.", { cause: errorText(thrown) });
				return false;
			},
		);
		return this.#loading;
	}

	async #read(): Promise<void> {
		const { stored } = this.#settings;
		if (!(await stored.any())) return;
		for (const persisted of await stored.list()) {
			const { id, dedupeKey } = persisted.notification;
			this.#known.set(id, persisted);
			if (dedupeKey !== null) this.#keys.add(dedupeKey);
		}
	}

	#pending(sink: Sink): readonly StoredNotification[] {
		const { clock, claimStaleAfter } = this.#settings;
		return [...this.#known.values()].filter(({ notification, delivery }) => {
			const { status, claimedAt } = delivery[sink] ?? pendingDelivery;
			if (status === "acked" || !notification.targets.includes(sink)) return false;
			return status === "pending" || claimedAt === null || clock.now() - claimedAt > claimStaleAfter;
		});
	}

	/** One after another, so that none is told twice. What cannot be told waits for the next turn. */
	#deliverPending(): Promise<void> {
		return this.#queue.run("wire", async () => {
			await this.load();
			for (const { notification } of this.#pending("wire")) {
				if (this.#deliver === null) return;
				try {
					await this.#deliver(toEvent(notification), { sync: true });
				} catch {
					return;
				}
				await this.#acknowledge(notification.id, "wire");
			}
		});
	}

	async #acknowledge(id: string, sink: Sink): Promise<void> {
		const { stored, clock, log } = this.#settings;
		const known = this.#known.get(id);
		if (known === undefined) return;
		const acked = { status: "acked", claimedAt: null, ackedAt: clock.now() } as const;
		const delivery = { ...known.delivery, [sink]: acked };
		this.#known.set(id, { ...known, delivery });
		try {
			await this.#queue.run(id, () => stored.setDelivery(id, this.#known.get(id)?.delivery ?? delivery));
		} catch (thrown) {
			log.warn("The delivery of a notification could not be noted.", { id, sink, cause: errorText(thrown) });
		}
	}
}

function idIn({ role, content }: HistoryEntry): string | null {
	const first = content[0];
	return role === "user" && first?.type === "text" ? notificationIdOf(first.text) : null;
}

function toEvent(notification: Notification): EventBody {
	const { id, category, type, sourceKind, sourceId, title, body, severity, createdAt, payload } = notification;
	return {
		type: "notification.raised",
		id,
		category,
		notification_type: type,
		source_kind: sourceKind,
		source_id: sourceId,
		title,
		body,
		severity,
		created_at: createdAt / 1000,
		payload,
	};
}
