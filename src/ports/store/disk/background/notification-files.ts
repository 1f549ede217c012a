import path from "node:path";
import * as v from "valibot";
import { errorText } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { Files } from "../../../files/port.ts";
import {
	type Delivery,
	type Notification,
	pendingDelivery,
	type StoredNotification,
	type StoredNotifications,
} from "../../stored-tasks.ts";
import { parseLine } from "../logs/json-lines.ts";
import { toMilliseconds, toSeconds } from "../logs/seconds.ts";

const notificationsDirectory = "notifications";
const eventName = "event.json";
const deliveryName = "delivery.json";
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{1,63}$/;

const time = v.optional(v.nullable(v.number()), null);

const eventSchema = v.looseObject({
	id: v.string(),
	category: v.string(),
	type: v.string(),
	source_kind: v.string(),
	source_id: v.string(),
	title: v.string(),
	body: v.string(),
	severity: v.string(),
	created_at: v.number(),
	payload: v.optional(v.record(v.string(), v.unknown()), {}),
	targets: v.optional(v.array(v.string()), () => []),
	dedupe_key: v.optional(v.nullable(v.string()), null),
});

const deliverySchema = v.looseObject({
	sinks: v.record(
		v.string(),
		v.looseObject({ status: v.picklist(["pending", "claimed", "acked"]), claimed_at: time, acked_at: time }),
	),
});

export function toEventText(notification: Notification): string {
	const { sourceKind, sourceId, createdAt, dedupeKey, payload, targets, ...plain } = notification;
	const event = {
		version: 1,
		id: plain.id,
		category: plain.category,
		type: plain.type,
		source_kind: sourceKind,
		source_id: sourceId,
		title: plain.title,
		body: plain.body,
		severity: plain.severity,
		created_at: createdAt / 1000,
		payload,
		targets,
		dedupe_key: dedupeKey,
	};
	return JSON.stringify(event, null, 2);
}

export function fromEvent(value: unknown): Notification | null {
	const parsed = v.safeParse(eventSchema, value);
	if (!parsed.success) return null;
	const { id, category, type, title, body, severity, payload, targets, ...file } = parsed.output;
	return {
		id,
		category,
		type,
		sourceKind: file.source_kind,
		sourceId: file.source_id,
		title,
		body,
		severity,
		createdAt: file.created_at * 1000,
		payload,
		targets,
		dedupeKey: file.dedupe_key,
	};
}

export function toDeliveryText(delivery: Delivery): string {
	const sinks = Object.entries(delivery).map(([name, { status, claimedAt, ackedAt }]) => [
		name,
		{ status, claimed_at: toSeconds(claimedAt), acked_at: toSeconds(ackedAt) },
	]);
	return JSON.stringify({ sinks: Object.fromEntries(sinks) }, null, 2);
}

export function fromDelivery(value: unknown): Delivery | null {
	const parsed = v.safeParse(deliverySchema, value);
	if (!parsed.success) return null;
	const sinks = Object.entries(parsed.output.sinks).map(([name, { status, claimed_at, acked_at }]) => [
		name,
		{ status, claimedAt: toMilliseconds(claimed_at), ackedAt: toMilliseconds(acked_at) },
	]);
	return Object.fromEntries(sinks);
}

export function newDelivery(targets: readonly string[]): Delivery {
	return Object.fromEntries(targets.map((target) => [target, pendingDelivery]));
}

export interface NotificationFilesOptions {
	readonly files: Files;
	readonly log: Log;
	replace(file: string, text: string, options: { readonly sync: boolean }): Promise<void>;
}

/** Creates nothing before the first notification. */
export function createNotificationFiles(
	sessionDirectory: string,
	{ files, log, replace }: NotificationFilesOptions,
): StoredNotifications {
	const parent = path.join(sessionDirectory, notificationsDirectory);
	const any = async (): Promise<boolean> => (await files.status(parent))?.kind === "directory";
	const put = (id: string, name: string, text: string) => replace(path.join(parent, id, name), text, { sync: true });
	const readObject = async (file: string) => {
		const bytes = await files.read(file);
		return bytes === null ? undefined : parseLine(bytes.toString("utf8"));
	};

	const open = async (id: string): Promise<StoredNotification | null> => {
		const directory = path.join(parent, id);
		try {
			const notification = fromEvent(await readObject(path.join(directory, eventName)));
			const found = await readObject(path.join(directory, deliveryName));
			// A kernel killed between the two writes has delivered nothing.
			const delivery = found === undefined ? newDelivery(notification?.targets ?? []) : fromDelivery(found);
			if (notification?.id === id && delivery !== null) return { notification, delivery };
			log.warn("a notification could not be read", { directory });
		} catch (thrown) {
			log.warn("a notification could not be read", { directory, cause: errorText(thrown) });
		}
		return null;
	};

	return {
		any,
		async list() {
			if (!(await any())) return [];
			const names = (await files.list(parent)).filter(({ name, kind }) => kind === "directory" && idPattern.test(name));
			const opened = await Promise.all(names.map(({ name }) => open(name)));
			return opened
				.filter((persisted) => persisted !== null)
				.sort(({ notification: one }, { notification: other }) => one.createdAt - other.createdAt);
		},
		async add({ notification, delivery }) {
			await put(notification.id, eventName, toEventText(notification));
			await put(notification.id, deliveryName, toDeliveryText(delivery));
		},
		setDelivery: (id, delivery) => put(id, deliveryName, toDeliveryText(delivery)),
	};
}
