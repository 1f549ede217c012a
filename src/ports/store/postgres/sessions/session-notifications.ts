import * as v from "valibot";
import { fromDelivery, fromEvent, toDeliveryText, toEventText } from "../../disk/background/notification-files.ts";
import { parseLine } from "../../disk/logs/json-lines.ts";
import type { StoredNotifications } from "../../stored-tasks.ts";
import type { SessionParts } from "./session-parts.ts";

const rowSchema = v.object({ id: v.string(), body: v.string(), delivery: v.string() });

export function createNotifications(parts: SessionParts): StoredNotifications {
	const { database, log, sessionId, writes, whileOpen } = parts;
	const { schema } = database;
	return {
		async any() {
			const rows = await database.query(`select 1 from ${schema}.notification where session_id = $1 limit 1`, [
				sessionId,
			]);
			return rows.length > 0;
		},
		async list() {
			const rows = await database.query(
				`select id, body, delivery from ${schema}.notification where session_id = $1 order by created_at, id`,
				[sessionId],
			);
			return rows.flatMap((row) => {
				const { id, body, delivery: text } = v.parse(rowSchema, row);
				const [notification, delivery] = [fromEvent(parseLine(body)), fromDelivery(parseLine(text))];
				if (notification !== null && delivery !== null) return [{ notification, delivery }];
				log.warn("a notification could not be read", { sessionId, id });
				return [];
			});
		},
		add: ({ notification, delivery }) =>
			whileOpen(() =>
				writes.write(
					`insert into ${schema}.notification (session_id, id, created_at, body, delivery)
					select id, $4, $5::float8, $6, $7 from head on conflict (session_id, id) do nothing`,
					[notification.id, notification.createdAt, toEventText(notification), toDeliveryText(delivery)],
				),
			),
		setDelivery: (id, delivery) =>
			whileOpen(() =>
				writes.write(
					`update ${schema}.notification n set delivery = $5 from head where n.session_id = head.id and n.id = $4`,
					[id, toDeliveryText(delivery)],
				),
			),
	};
}
