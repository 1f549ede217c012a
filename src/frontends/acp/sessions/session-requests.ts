// Session requests for all protocol versions: each works on one session, and none waits for another session.

import type { SessionHandle } from "../../../api/kernel.ts";
import type { Rewound } from "../../../api/values/file-changes.ts";
import { KernelError } from "../../../base/errors.ts";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { HostApi } from "../../shared/dialect.ts";
import { toInput } from "../content.ts";
import type { PromptParams, RewindParams, SteeringResult } from "../wire.ts";
import type { AttachedClient } from "./client-side.ts";
import { Openings } from "./openings.ts";
import { PromptRequests } from "./prompt-requests.ts";
import { SessionAccess } from "./session-access.ts";

const pageSize = 50;

const messageSuffix = /-.*$/s;

export class SessionRequests {
	readonly access: SessionAccess;
	readonly openings: Openings;
	readonly prompts: PromptRequests;
	readonly #sessions: HostApi["sessions"];
	readonly #gone = new AbortController();

	constructor(kernelApi: HostApi, peer: Peer, client: () => AttachedClient) {
		const side = { kernelApi, peer, client, gone: this.#gone.signal };
		this.#sessions = kernelApi.sessions;
		this.access = new SessionAccess(side);
		this.openings = new Openings(side, this.access);
		this.prompts = new PromptRequests(side, this.access);
	}

	leave(): void {
		this.#gone.abort();
		this.prompts.withdrawWaiting();
		this.access.attached.detachAll();
	}

	drained(): Promise<void> {
		return this.access.attached.drained();
	}

	async list({ cwd, cursor }: { readonly cwd: string | null; readonly cursor: string | null }) {
		const { sessions, next } = await this.#sessions.list({
			...(cwd === null ? {} : { workDir: cwd }),
			...(cursor === null ? {} : { after: cursor }),
			limit: pageSize,
			withUnused: true,
		});
		const shown = sessions.filter(({ archivedAt }) => archivedAt === null);
		return {
			sessions: shown.map(({ id, workDir, title, updatedAt }) => ({
				sessionId: id,
				cwd: workDir,
				title,
				updatedAt: new Date(updatedAt).toISOString(),
			})),
			...(next === null ? {} : { nextCursor: next }),
		};
	}

	delete(id: string): Promise<void> {
		return this.prompts.end(id, () => this.#sessions.delete(id));
	}

	close(id: string): Promise<void> {
		return this.prompts.end(id, async () => {
			const attached = await this.access.attached.detach(id);
			if (!attached) (await this.#lookAt(id))?.release();
			await this.#discardUnused(id);
			await this.#sessions.unload(id);
		});
	}

	/** Deletes an unused session when its client closes it. Keeps it if it cannot be loaded for the check. */
	async #discardUnused(id: string): Promise<void> {
		if (!(await this.#sessions.loaded()).some((info) => info.id === id)) return;
		const handle = await this.#lookAt(id);
		if (handle === null) return;
		const { cursor, title, clients } = await handle.session.snapshot().finally(() => handle.release());
		if (cursor.seq === 0 && title === null && clients.length === 0) await this.#sessions.delete(id);
	}

	/** Null if there is no room to load it. Fails with `session-not-found` for a missing session. */
	async #lookAt(id: string): Promise<SessionHandle | null> {
		try {
			return await this.access.acquire(id);
		} catch (thrown) {
			if (thrown instanceof KernelError && thrown.code === "overloaded") return null;
			throw thrown;
		}
	}

	async steer({ sessionId, prompt }: PromptParams): Promise<SteeringResult> {
		const input = toInput(prompt);
		// After earlier prompts, because one of their turns may be about to begin.
		return await this.access.holding(sessionId, async ({ session }) => {
			try {
				await session.send({ type: "turn.steer", input });
				return { outcome: "injected" };
			} catch (thrown) {
				if (thrown instanceof KernelError && thrown.code === "no-turn") return { outcome: "promptRequired" };
				throw thrown;
			}
		});
	}

	rewind({ sessionId, messageId, ...choices }: RewindParams): Promise<Rewound> {
		const before = messageId.replace(messageSuffix, "");
		return this.access.holding(sessionId, ({ session }) =>
			session.send({ type: "session.rewind", before, ...choices }),
		);
	}
}
