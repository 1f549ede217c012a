import type { Attachment, SessionHandle } from "../../../api/kernel.ts";
import type { Cursor } from "../../../api/values/event.ts";
import type { Clock } from "../../../base/clock.ts";
import { KernelError } from "../../../base/errors.ts";

/** Milliseconds before a session is followed again after a read error; doubles with each failure. */
const firstPause = 1000;
const longestPause = 60_000;

export interface Follower {
	onTurnEnded(isFinished: boolean): void;
	onError(error: unknown): void;
	/** After the events were lost: a turn may have ended meanwhile. */
	followAgain(): Promise<void>;
	onDetached(): void;
}

export class FollowedSession {
	readonly #acquire: () => Promise<SessionHandle>;
	readonly #clock: Clock;
	readonly #follower: Follower;
	#following: { readonly handle: SessionHandle; readonly attachment: Attachment } | null = null;
	/** The last event read; null if no event can be missed after the next attachment. */
	#seen: Cursor | null = null;
	#pause = firstPause;
	/** Cancels the pending retry to follow the session; null if none. */
	#withdraw: (() => void) | null = null;
	#isClosed = false;

	constructor(acquire: () => Promise<SessionHandle>, clock: Clock, follower: Follower) {
		this.#acquire = acquire;
		this.#clock = clock;
		this.#follower = follower;
	}

	get handle(): SessionHandle | null {
		return this.#following?.handle ?? null;
	}

	async follow(): Promise<SessionHandle> {
		if (this.#following !== null) return this.#following.handle;
		const handle = await this.#acquire();
		try {
			const attachment = await handle.session.attach({
				client: null,
				tools: [],
				capabilities: [],
				approves: false,
				hooks: null,
				flow: "droppable",
				...(this.#seen === null ? {} : { after: this.#seen }),
			});
			this.#following = { handle, attachment };
			this.#seen ??= attachment.snapshot.cursor;
			void this.#read(attachment, handle);
		} catch (thrown) {
			handle.release();
			throw thrown;
		}
		return handle;
	}

	release(): void {
		const following = this.#following;
		this.#following = null;
		this.#seen = null;
		following?.attachment.close();
	}

	close(): void {
		this.#isClosed = true;
		this.#withdraw?.();
		this.#following?.attachment.close();
	}

	async #read(attachment: Attachment, handle: SessionHandle): Promise<void> {
		/** Events up to this number are repeated; it is unknown which of their turns ended unseen. */
		let repeated = 0;
		try {
			for await (const batch of attachment.events) {
				for (const { body, agentPath, epoch, seq } of batch) {
					this.#pause = firstPause;
					if (seq !== undefined && epoch !== undefined) this.#seen = { epoch, seq };
					if (body.type === "session.reset") repeated = attachment.snapshot.cursor.seq;
					if (body.type !== "turn.ended" || agentPath.length > 0 || (seq ?? 0) <= repeated) continue;
					this.#follower.onTurnEnded(body.outcome?.status === "finished");
				}
			}
		} catch (error) {
			this.#follower.onError(error);
		} finally {
			const isWanted = this.#following?.attachment === attachment;
			if (isWanted) this.#following = null;
			attachment.close();
			handle.release();
			if (isWanted) this.#followLater();
			this.#follower.onDetached();
		}
	}

	#followLater(): void {
		if (this.#isClosed || this.#withdraw !== null) return;
		const pause = this.#pause;
		this.#pause = Math.min(pause * 2, longestPause);
		const tryAgain = () => {
			this.#withdraw = null;
			this.#follower.followAgain().catch((error) => {
				this.#follower.onError(error);
				// The session was deleted, or another process has it.
				if (!(error instanceof KernelError) || !["session-not-found", "busy"].includes(error.code)) this.#followLater();
			});
		};
		this.#withdraw = this.#clock.after(pause, tryAgain, true);
	}
}
