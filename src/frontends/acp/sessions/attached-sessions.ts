// Each from its first request until it is unloaded or closed, or the client disconnects.
import type { SessionApi, SessionHandle } from "../../../api/kernel.ts";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { HostApi } from "../../shared/dialect.ts";
import { type AttachedClient, AttachedSession } from "./attached-session.ts";

export class AttachedSessions {
	readonly #kernelApi: HostApi;
	readonly #peer: Peer;
	readonly #client: () => AttachedClient;
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
