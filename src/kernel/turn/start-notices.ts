// Notices for clients in the first turn of a loaded session: problems found while opening it.
import type { EventBodyOf } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";

export interface StartNotice {
	readonly title: string;
	readonly body: string;
}

export class StartNotices {
	#waiting: readonly StartNotice[];
	readonly #clock: Pick<Clock, "now">;

	constructor(notices: readonly StartNotice[], clock: Pick<Clock, "now">) {
		this.#waiting = notices;
		this.#clock = clock;
	}

	async deliver(emit: (body: EventBodyOf<"notification.raised">) => unknown): Promise<void> {
		const due = this.#waiting;
		this.#waiting = [];
		const now = this.#clock.now();
		for (const [index, { title, body }] of due.entries()) {
			await emit({
				type: "notification.raised",
				id: `session.start-${now}-${index}`,
				category: "session",
				notification_type: "session.start",
				source_kind: "session",
				source_id: "",
				title,
				body,
				severity: "warning",
				created_at: now / 1000,
				payload: {},
			});
		}
	}
}
