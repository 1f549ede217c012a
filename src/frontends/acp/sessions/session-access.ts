import type { SessionHandle } from "../../../api/kernel.ts";
import type { OpeningOptions } from "../../../api/session-options.ts";
import { KernelError } from "../../../base/errors.ts";
import { createKeyedQueue } from "../../../base/keyed-queue.ts";
import { unknownSession } from "../errors.ts";
import { advised } from "../sign-in.ts";
import type { AttachedSession } from "./attached-session.ts";
import { AttachedSessions } from "./attached-sessions.ts";
import type { ClientSide } from "./client-side.ts";

/** Sessions by the ids that a client names. */
export class SessionAccess {
	readonly attached: AttachedSessions;
	readonly #side: ClientSide;
	/** Requests are handled in order of arrival. A turn has begun before its cancellation is handled. */
	readonly #order = createKeyedQueue();

	constructor(side: ClientSide) {
		this.#side = side;
		this.attached = new AttachedSessions(side);
	}

	inOrder<T>(id: string, work: () => Promise<T>): Promise<T> {
		return this.#order.run(id, work);
	}

	acquire(id: string, opening: OpeningOptions = {}): Promise<SessionHandle> {
		return this.known(id, () => this.#side.kernelApi.sessions.acquire(id, opening));
	}

	async known<T>(id: string, work: () => Promise<T>): Promise<T> {
		try {
			return await advised(work);
		} catch (thrown) {
			throw thrown instanceof KernelError && thrown.code === "session-not-found" ? unknownSession(id) : thrown;
		}
	}

	holding<T>(id: string, work: (handle: SessionHandle) => Promise<T>): Promise<T> {
		return this.inOrder(id, async () => {
			const handle = await this.acquire(id);
			try {
				return await work(handle);
			} finally {
				handle.release();
			}
		});
	}

	using<T>(id: string, work: (attached: AttachedSession) => Promise<T>): Promise<T> {
		return this.holding(id, async (handle) => {
			const attached = await this.attached.to(handle);
			const result = await work(attached);
			await attached.shown();
			return result;
		});
	}
}
