// The sessions a connection is attached to, each from its first request until it is unloaded or closed, or the client
// disconnects.
import type { SessionApi, SessionHandle } from "../../../kernel/api.ts";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { HostApi } from "../../shared/dialect.ts";
import { type AttachedClient, AttachedSession } from "./attached-session.ts";

export class AttachedSessions {
	readonly #kernelApi: HostApi;
	readonly #peer: Peer;
	readonly #client: () => AttachedClient;
	/** Aborts when the client disconnects; the sessions continue. */
	readonly #gone: AbortSignal;
	readonly #attached = new Map<SessionApi, Promise<AttachedSession>>();

	constructor(kernelApi: HostApi, peer: Peer, client: () => AttachedClient, gone: AbortSignal) {
		this.#kernelApi = kernelApi;
		this.#peer = peer;
		this.#client = client;
		this.#gone = gone;
	}

	get(session: SessionApi): Promise<AttachedSession> | undefined {
		return this.#attached.get(session);
	}

	/** The client's attachment; a new one if the session was unloaded since. */
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

	/** A new attachment; sends nothing before `begin`. */
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

	/** Shows a session to the client; detaches it if that fails. */
	async orDetach(session: SessionApi, work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (thrown) {
			await this.#detach(session);
			throw thrown;
		}
	}

	/** Detaches the client from the session; returns false if it was not attached. */
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

	/** Includes attachments in progress. */
	detachAll(): void {
		for (const attaching of this.#attached.values()) {
			void attaching.then(
				(attached) => attached.detach(),
				() => {},
			);
		}
	}

	/** Resolves when all delivered events were sent; call after the sessions were stopped. */
	async drained(): Promise<void> {
		await Promise.all([...this.#attached.values()].map(async (attached) => (await attached).drained()));
	}
}
