// The sessions that the client of a connection is attached to, each from the first request about it until it is unloaded,
// closed, or the client is gone.
import type { SessionApi, SessionHandle } from "../../../kernel/api.ts";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { HostApi } from "../../shared/dialect.ts";
import { type AttachedClient, AttachedSession } from "./attached-session.ts";

export class AttachedSessions {
	readonly #kernelApi: HostApi;
	readonly #peer: Peer;
	readonly #client: () => AttachedClient;
	/** Aborts when the client is gone and the sessions go on. */
	readonly #gone: AbortSignal;
	readonly #attached = new Map<SessionApi, Promise<AttachedSession>>();

	constructor(kernelApi: HostApi, peer: Peer, client: () => AttachedClient, gone: AbortSignal) {
		this.#kernelApi = kernelApi;
		this.#peer = peer;
		this.#client = client;
		this.#gone = gone;
	}

	/** The client's attachment to a loaded session; undefined without one. */
	get(session: SessionApi): Promise<AttachedSession> | undefined {
		return this.#attached.get(session);
	}

	/** The client's attachment; it is a new one after the session was unloaded. */
	async to(handle: SessionHandle): Promise<AttachedSession> {
		const known = this.#attached.get(handle.session);
		if (known !== undefined) return await known;
		const attached = await this.attach(handle);
		await this.orDetach(handle.session, async () => {
			await attached.recall();
			attached.sendRecalledCalls();
		});
		attached.begin();
		return attached;
	}

	/** A new attachment; it sends nothing before its `begin` is called. */
	attach(handle: SessionHandle): Promise<AttachedSession> {
		const { session } = handle;
		const attaching = this.#attachUnlessGone(handle);
		this.#attached.set(session, attaching);
		const forget = () => {
			if (this.#attached.get(session) === attaching) this.#attached.delete(session);
		};
		// Its events end when it is unloaded.
		attaching.then((attached) => attached.begun.then(() => attached.drained()).then(forget), forget);
		return attaching;
	}

	async #attachUnlessGone(handle: SessionHandle): Promise<AttachedSession> {
		const attached = await AttachedSession.attach(handle, this.#kernelApi, this.#peer, this.#client());
		if (this.#gone.aborted) attached.detach();
		return attached;
	}

	/** Does what shows a session to the client; one that could not be shown is not attached. */
	async orDetach(session: SessionApi, work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (thrown) {
			await this.#detach(session);
			throw thrown;
		}
	}

	/** Detaches the client from the session of this id; false when it is not attached to it. */
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

	/** Detaches it from every session, also those that it is being attached to. */
	detachAll(): void {
		for (const attaching of this.#attached.values()) {
			void attaching.then(
				(attached) => attached.detach(),
				() => {},
			);
		}
	}

	/** Resolves when every delivered event was sent; call it after the sessions were stopped. */
	async drained(): Promise<void> {
		await Promise.all([...this.#attached.values()].map(async (attached) => (await attached).drained()));
	}
}
