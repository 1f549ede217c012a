// Sessions of a kernel in another process, with the same interfaces as a local kernel.

import type { SessionHandle, SessionsApi } from "../api/kernel.ts";
import type { ModelList } from "../api/models.ts";
import type { ListQuery, SessionPage } from "../api/session-list.ts";
import type { CreationOptions, ForkOptions, OpeningOptions } from "../api/session-options.ts";
import type { SessionInfo, SkillInfo, StoredId } from "../api/session-state.ts";
import type { AgentEvent } from "../api/values/event.ts";
import type { ForkedSession } from "../api/values/file-changes.ts";
import { KernelError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { LineTransport } from "../ports/rpc/transport.ts";
import { Caller } from "./caller.ts";
import type { Result } from "./protocol.ts";
import { RemoteSession, readStoredEvents } from "./remote-session.ts";
import { remoteVersion } from "./remote-version.ts";

export interface RemoteKernel {
	readonly sessions: SessionsApi;
	/** Aborts when the connection is lost: later calls fail with `closed`, and attachment events end. */
	readonly lost: AbortSignal;
	/** Resolves once the peer answers. Fails with `closed` when the connection is lost. */
	ask(): Promise<void>;
	/** Ends the connection; the sessions continue. Pending calls fail with `closed` and this reason. */
	close(reason?: string): Promise<void>;
}

/** Fails with `unsupported` for another version, and with `closed` when it is gone or on an early abort. */
export async function connectKernel(transport: LineTransport, log: Log, signal?: AbortSignal): Promise<RemoteKernel> {
	const caller = new Caller(transport, log);
	const giveUp = () => void caller.close();
	const hello = async () => void (await caller.request("hello", { version: remoteVersion }));
	signal?.addEventListener("abort", giveUp, { once: true });
	try {
		if (signal?.aborted === true) await caller.close();
		await hello();
	} catch (thrown) {
		await caller.close();
		throw thrown;
	} finally {
		signal?.removeEventListener("abort", giveUp);
	}
	return {
		sessions: new RemoteSessions(caller),
		lost: caller.lost,
		ask: hello,
		close: (reason) => caller.close(reason),
	};
}

class RemoteSessions implements SessionsApi {
	readonly takesEditorFiles = false;
	readonly #caller: Caller;
	/** By session id: the remote session name and its local object. */
	readonly #known = new Map<string, { readonly name: string; readonly session: RemoteSession }>();

	constructor(caller: Caller) {
		this.#caller = caller;
	}

	async create(options: CreationOptions): Promise<SessionHandle> {
		refuseEditorFiles(options);
		return this.#toHandle(await this.#caller.request("sessions.create", { options }));
	}

	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		refuseEditorFiles(options);
		return this.#toHandle(await this.#caller.request("sessions.acquire", { id, options }));
	}

	fork(id: string, options: ForkOptions = {}): Promise<ForkedSession> {
		return this.#caller.request("sessions.fork", { id, options });
	}

	loaded(): Promise<readonly SessionInfo[]> {
		return this.#caller.request("sessions.loaded", {});
	}

	list(query: ListQuery): Promise<SessionPage> {
		return this.#caller.request("sessions.list", { query });
	}

	async *storedEvents({ workDir, id }: StoredId): AsyncGenerator<readonly AgentEvent[]> {
		const { stream } = await this.#caller.request("sessions.stored-events", { workDir, id });
		yield* readStoredEvents(this.#caller, stream);
	}

	models(): Promise<ModelList> {
		return this.#caller.request("sessions.models", {});
	}

	skills(): Promise<readonly SkillInfo[]> {
		return this.#caller.request("sessions.skills", {});
	}

	skillText(name: string): Promise<string | null> {
		return this.#caller.request("sessions.skill-text", { name });
	}

	interrupt(id: string): Promise<boolean> {
		return this.#caller.request("sessions.interrupt", { id });
	}

	async archive(id: string): Promise<void> {
		await this.#caller.request("sessions.archive", { id });
		this.#known.delete(id);
	}

	async unarchive(id: string): Promise<void> {
		await this.#caller.request("sessions.unarchive", { id });
	}

	async unload(id: string): Promise<void> {
		await this.#caller.request("sessions.unload", { id });
	}

	async delete(id: string): Promise<void> {
		await this.#caller.request("sessions.delete", { id });
		this.#known.delete(id);
	}

	async stop(): Promise<void> {
		await this.#caller.request("sessions.stop", {});
	}

	#toHandle(acquired: Result<"sessions.acquire">): SessionHandle {
		const { handle, info } = acquired;
		return {
			session: this.#toSession(acquired),
			info,
			startTurn: (input, options = {}) => this.#caller.request("handle.start-turn", { handle, input, options }),
			release: () => this.#caller.notify("handle.release", { handle }),
			discard: async () => void (await this.#caller.request("handle.discard", { handle })),
		};
	}

	/** Returns the same object for the same loaded session: attached clients must not have to attach again. */
	#toSession(acquired: Result<"sessions.acquire">): RemoteSession {
		const { id, session: name } = acquired;
		const known = this.#known.get(id);
		if (known?.name === name) return known.session;
		const session = new RemoteSession(this.#caller, acquired);
		this.#known.set(id, { name, session });
		return session;
	}
}

/** Tools of a remote session cannot call into this process. */
function refuseEditorFiles({ editorFiles }: OpeningOptions): void {
	if (editorFiles === undefined) return;
	throw new KernelError("unsupported", "The files of an editor cannot be used by a kernel in another process.");
}
