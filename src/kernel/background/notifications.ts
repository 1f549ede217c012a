// Each is persisted once, delivered to clients in turns, and given to the model. A crash may repeat a delivery, not lose it.
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import type { CommandOf } from "../../api/commands.ts";
import { inputText, type UserInput, userInputSchema } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { EventBody } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText, KernelError } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Log } from "../../base/log.ts";
import type { HookPoint } from "../../core/hooks/hook.ts";
import { newDelivery } from "../../ports/store/disk/background/notification-files.ts";
import {
	type Notification,
	pendingDelivery,
	type StoredNotification,
	type StoredNotifications,
} from "../../ports/store/stored-tasks.ts";
import type { EmitInTurn } from "../turn/turn-emitter.ts";
import { notificationIdOf, toNoticeText } from "./task-notification.ts";

const noticesPerStep = 4;

const waitingLimit = 64;

type Sink = "llm" | "wire";

const external = "external";

export type AddedEvent = Omit<CommandOf<"notification.add">, "type">;

export interface AgentNotice {
	readonly text: string;
	readonly hook: HookPoint;
	/** Call this once the text is in the context. */
	persisted(): Promise<void>;
}

export interface NotificationSettings {
	readonly stored: StoredNotifications;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly log: Log;
	readonly claimStaleAfter: number;
	/** Returns more text about the source for the model, or null. */
	describeSource(notification: Notification): Promise<string | null>;
}

type MakeNotification = (id: string, now: number) => Notification | null;

export class Notifications {
	readonly #settings: NotificationSettings;
	readonly #known = new Map<string, StoredNotification>();
	readonly #keys = new Set<string>();
	/** Queue keys are notification ids, `wire` for deliveries and `add` for additions. */
	readonly #queue = createKeyedQueue();
	readonly #persistence = new Set<Promise<void>>();
	#loading: Promise<boolean> | null = null;
	#deliver: EmitInTurn | null = null;

	constructor(settings: NotificationSettings) {
		this.#settings = settings;
	}

	/** Another process has written the session: notifications are read again. */
	forget(): void {
		this.#known.clear();
		this.#keys.clear();
		this.#loading = null;
	}

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

	/** `added: false` with the first id for a known key. Fails `invalid-input` if the body differs, `overloaded` when full. */
	add(event: AddedEvent): Promise<{ readonly added: boolean; readonly id: string }> {
		return this.#queue.run("add", () => this.#add(event));
	}

	async #add(event: AddedEvent): Promise<{ readonly added: boolean; readonly id: string }> {
		if (!(await this.load())) {
			throw new KernelError("storage-failed", "The notifications of the session cannot be read; the log says why.");
		}
		const dedupeKey = event.key === null ? null : `external:${event.key}`;
		const known = dedupeKey === null ? undefined : this.#findByKey(dedupeKey);
		if (known !== undefined) {
			if (known.title === event.kind && isDeepStrictEqual(inputOf(known), event.input))
				return { added: false, id: known.sourceId };
			throw new KernelError("invalid-input", `Something else was added under the key ${event.key}.`, {
				data: { existing_id: known.sourceId },
			});
		}
		if (this.#pending("llm").length >= waitingLimit) {
			throw new KernelError(
				"overloaded",
				`${waitingLimit} notifications wait for the model already: start a turn, in which it receives them.`,
				{ data: { limit: waitingLimit } },
			);
		}
		await this.publish((id, now) => ({
			id,
			category: external,
			type: "external.event",
			sourceKind: "external_event",
			sourceId: event.id,
			title: event.kind,
			body: inputText(event.input),
			severity: "info",
			createdAt: now,
			payload: typeof event.input === "string" ? {} : { input: event.input },
			targets: ["llm", "wire", "shell"],
			dedupeKey,
		}));
		return { added: true, id: event.id };
	}

	#findByKey(key: string): Notification | undefined {
		for (const { notification } of this.#known.values()) if (notification.dedupeKey === key) return notification;
		return undefined;
	}

	async #persist(make: MakeNotification): Promise<void> {
		// If the stored notifications cannot be read, skip this one: the next session open publishes it.
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

	/** A turn has begun: delivers the pending notifications, then new ones as they arrive. */
	async openTurn(deliver: EmitInTurn): Promise<void> {
		await Promise.allSettled(this.#persistence);
		this.#deliver = deliver;
		await this.#deliverPending();
	}

	/** The turn is about to end: delivers pending notifications and pauses delivery until the next turn. */
	async closeTurn(): Promise<void> {
		await Promise.allSettled(this.#persistence);
		await this.#deliverPending();
		this.#deliver = null;
	}

	async hasNotices(): Promise<boolean> {
		await Promise.allSettled(this.#persistence);
		await this.load();
		return this.#pending("llm").length > 0;
	}

	/** The notifications for the model now. Acknowledges those already in the context after a crash. */
	async notices(messages: readonly HistoryEntry[], withExternal = true): Promise<readonly AgentNotice[]> {
		await this.load();
		const pending = () =>
			this.#pending("llm").filter(({ notification }) => withExternal || notification.category !== external);
		if (pending().length === 0) return [];
		const present = new Set(messages.map(idIn));
		for (const { notification } of pending()) {
			if (present.has(notification.id)) await this.#acknowledge(notification.id, "llm");
		}
		return await Promise.all(
			pending()
				.slice(0, noticesPerStep)
				.map((persisted) => this.#toNotice(persisted)),
		);
	}

	async externalEvents(): Promise<readonly Omit<AddedEvent, "key">[]> {
		await Promise.allSettled(this.#persistence);
		await this.load();
		return this.#pending("llm")
			.map(({ notification }) => notification)
			.filter(({ category }) => category === external)
			.map((notification) => ({
				id: notification.sourceId,
				kind: notification.title,
				input: inputOf(notification),
			}));
	}

	async taken(ids: readonly string[]): Promise<void> {
		const wanted = new Set(ids);
		for (const { notification } of this.#pending("llm")) {
			if (notification.category === external && wanted.has(notification.sourceId))
				await this.#acknowledge(notification.id, "llm");
		}
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

	/** Reads the stored notifications once. On failure, logs it and returns false; the next call retries. */
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

	/** Delivers one notification at a time to avoid duplicates. Failed deliveries wait for the next turn. */
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

function inputOf({ body, payload }: Notification): UserInput {
	const parsed = v.safeParse(userInputSchema, payload["input"]);
	return parsed.success ? parsed.output : body;
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
