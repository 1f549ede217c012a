// Notices for absent users: each unanswered request is reported once.

import type { SessionsApi } from "../../api/kernel.ts";
import type { SessionSnapshot } from "../../api/session-state.ts";
import type { Interaction } from "../../api/values/interaction.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { beginning } from "../../base/text/well-formed.ts";

/** Milliseconds between polls, and default delay before a notice. */
export const lookSpan = 1000;
export const noticePatience = 5000;
/** Maximum notices per period; further ones wait. */
export const noticeLimit = 10;
export const limitSpan = 60_000;
const sendLimit = 2;
const textLimit = 1000;

export interface Notice {
	readonly kind: "approval" | "question";
	readonly sessionId: string;
	readonly interactionId: string;
	readonly workDir: string;
	readonly title: string;
	readonly text: string;
	readonly waitingSince: number;
}

export interface NoticeParts {
	readonly sessions: Pick<SessionsApi, "loaded" | "acquire">;
	readonly clock: Clock;
	readonly log: Log;
	send(notice: Notice): Promise<void>;
}

export class Notices {
	readonly #parts: NoticeParts;
	/** Reported requests still pending, by session and interaction. */
	#reported = new Set<string>();
	/** Sessions with a running turn, or with background work since then. */
	readonly #watched = new Set<string>();
	#sentAt: readonly number[] = [];
	#sending = 0;
	#isLimited = false;
	#isOver = false;
	#withdraw = () => {};

	constructor(parts: NoticeParts) {
		this.#parts = parts;
	}

	start(): void {
		this.#withdraw = this.#parts.clock.after(lookSpan, () => void this.#lookAgain(), true);
	}

	stop(): void {
		this.#isOver = true;
		this.#withdraw();
	}

	async #lookAgain(): Promise<void> {
		try {
			await this.look();
		} catch (error) {
			this.#parts.log.warn("Open approvals and questions cannot be read.", { error });
		}
		if (!this.#isOver) this.start();
	}

	/** Reports requests that have been pending long enough and were not reported yet. */
	async look(): Promise<void> {
		const waiting = await this.#find();
		const now = this.#parts.clock.now();
		const still = new Set<string>();
		for (const notice of waiting) {
			const key = JSON.stringify([notice.sessionId, notice.interactionId]);
			if (!this.#reported.has(key)) {
				const isDue = now - notice.waitingSince >= noticePatience;
				if (!isDue || !this.#mayReport()) continue;
				this.#report(notice);
			}
			still.add(key);
		}
		this.#reported = still;
	}

	async #find(): Promise<readonly Notice[]> {
		const { sessions } = this.#parts;
		const loaded = await sessions.loaded();
		for (const { id, isRunning } of loaded) if (isRunning) this.#watched.add(id);
		const found: Notice[] = [];
		for (const id of [...this.#watched]) {
			const notices = await this.#findIn(
				id,
				loaded.some((info) => info.id === id && info.isRunning),
			);
			if (notices === null) this.#watched.delete(id);
			else found.push(...notices);
		}
		return found;
	}

	/** Null if nothing runs in the session: looking at it would keep it in memory. */
	async #findIn(id: string, isRunning: boolean): Promise<readonly Notice[] | null> {
		const { sessions, log } = this.#parts;
		try {
			const handle = await sessions.acquire(id);
			try {
				const notices = toNotices(await handle.session.snapshot());
				// A background subagent may ask after the turn has ended.
				const isBusy =
					isRunning || notices.length > 0 || (await handle.session.send({ type: "tasks.list" })).tasks.length > 0;
				return isBusy ? notices : null;
			} finally {
				handle.release();
			}
		} catch (error) {
			log.debug("A session cannot be watched for notices.", { session: id, error });
			return null;
		}
	}

	/** Suppressed notices are due again at the next poll. */
	#mayReport(): boolean {
		const now = this.#parts.clock.monotonic();
		if (this.#isOver || this.#sending >= sendLimit) return false;
		this.#sentAt = this.#sentAt.filter((time) => now - time < limitSpan);
		const isLimited = this.#sentAt.length >= noticeLimit;
		if (isLimited && !this.#isLimited)
			this.#parts.log.warn("Notices are delayed: there were too many.", { notices: noticeLimit });
		this.#isLimited = isLimited;
		return !isLimited;
	}

	#report(notice: Notice): void {
		this.#sentAt = [...this.#sentAt, this.#parts.clock.monotonic()];
		this.#sending += 1;
		void this.#parts.send(notice).finally(() => {
			this.#sending -= 1;
		});
	}
}

function toNotices({ sessionId, workDir, title, openInteractions }: SessionSnapshot): readonly Notice[] {
	const notices: Notice[] = [];
	for (const { at, body } of openInteractions) {
		if (body.type !== "interaction.requested") continue;
		const { interaction } = body;
		const asked = toAsked(interaction);
		if (asked === null) continue;
		const place = { sessionId, workDir, title: title ?? "", interactionId: interaction.id, waitingSince: at };
		notices.push({ ...place, ...asked });
	}
	return notices;
}

/** The request as shown to a person; null if a program answers it. */
function toAsked(interaction: Interaction): Pick<Notice, "kind" | "text"> | null {
	switch (interaction.kind) {
		case "approval":
			return { kind: "approval", text: shortened(`${interaction.sender}: ${interaction.description}`) };
		case "question":
			return { kind: "question", text: shortened(interaction.questions.map(({ question }) => question).join("\n")) };
		case "client-tool":
		case "hook":
			return null;
	}
}

const shortened = (text: string) => (text.length <= textLimit ? text : `${beginning(text, textLimit - 1)}…`);
