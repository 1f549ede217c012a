// Each from its first request until it is unloaded or closed, or the client disconnects.
import type { SessionApi, SessionHandle } from "../../../api/kernel.ts";
import { AttachedSession } from "./attached-session.ts";
import type { ClientSide } from "./client-side.ts";

type Show = (attached: AttachedSession) => Promise<void>;

export class AttachedSessions {
	readonly #side: ClientSide;
	readonly #attached = new Map<SessionApi, Promise<AttachedSession>>();

	constructor(side: ClientSide) {
		this.#side = side;
	}

	async to(handle: SessionHandle): Promise<AttachedSession> {
		return await (this.#attached.get(handle.session) ?? this.#attachAndShow(handle, ({ view }) => view.recall()));
	}

	async renew(handle: SessionHandle, show: Show): Promise<AttachedSession> {
		const known = this.#attached.get(handle.session);
		if (known === undefined) return await this.#attachAndShow(handle, show);
		const attached = await known;
		await attached.renew(() => showWithCalls(attached, show));
		return attached;
	}

	async #attachAndShow(handle: SessionHandle, show: Show): Promise<AttachedSession> {
		const attached = await this.attach(handle);
		try {
			await showWithCalls(attached, show);
		} catch (thrown) {
			await this.#detach(handle.session);
			throw thrown;
		}
		attached.begin();
		return attached;
	}

	attach(handle: SessionHandle): Promise<AttachedSession> {
		const { session } = handle;
		const attaching = this.#attachUnlessGone(handle);
		this.#attached.set(session, attaching);
		const forget = () => {
			if (this.#attached.get(session) === attaching) this.#attached.delete(session);
		};
		attaching.then((attached) => attached.begun.then(() => attached.drained()).then(forget), forget);
		return attaching;
	}

	async #attachUnlessGone(handle: SessionHandle): Promise<AttachedSession> {
		const attached = await AttachedSession.attach(handle, this.#side);
		if (this.#side.gone.aborted) attached.detach();
		return attached;
	}

	async detach(id: string): Promise<boolean> {
		const known = [...this.#attached.keys()].find((session) => session.id === id);
		if (known === undefined) return false;
		await this.#detach(known);
		return true;
	}

	async #detach(session: SessionApi): Promise<void> {
		const known = this.#attached.get(session);
		if (known === undefined) return;
		this.#attached.delete(session);
		const attached = await known;
		attached.detach();
		await attached.drained();
	}

	detachAll(): void {
		for (const attaching of this.#attached.values()) {
			void attaching.then(
				(attached) => attached.detach(),
				() => {},
			);
		}
	}

	async drained(): Promise<void> {
		await Promise.all([...this.#attached.values()].map(async (attached) => (await attached).drained()));
	}
}

async function showWithCalls(attached: AttachedSession, show: Show): Promise<void> {
	await show(attached);
	attached.view.sendRecalledCalls();
}
