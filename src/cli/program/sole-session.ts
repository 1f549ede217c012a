import type { SessionHandle, SessionsApi } from "../../api/kernel.ts";
import type { SessionInfo } from "../../api/session-state.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";
import { toTurnStart } from "../../kernel/hosting/turn-start.ts";
import type { Session } from "../../kernel/session/session.ts";

export class SoleSession implements SessionsApi {
	readonly takesEditorFiles = false;
	readonly create = refuse;
	readonly fork = refuse;
	readonly list = refuse;
	readonly models = refuse;
	readonly skills = refuse;
	readonly skillText = refuse;
	readonly archive = refuse;
	readonly unarchive = refuse;
	readonly unload = refuse;
	readonly delete = refuse;
	readonly stop = refuse;
	readonly #session: Session;

	constructor(session: Session) {
		this.#session = session;
	}

	async acquire(id: string): Promise<SessionHandle> {
		const session = this.#of(id);
		await session.begun;
		return {
			session,
			info: this.#info(),
			startTurn: (input, options) => session.send(toTurnStart(input, options)),
			release() {},
			async discard() {},
		};
	}

	async loaded(): Promise<readonly SessionInfo[]> {
		return [this.#info()];
	}

	async interrupt(id: string): Promise<boolean> {
		const session = this.#of(id);
		const isRunning = session.turnId !== null;
		if (isRunning) await session.send({ type: "turn.cancel" });
		return isRunning;
	}

	async *storedEvents({ id }: { readonly id: string }): AsyncGenerator<readonly AgentEvent[]> {
		yield* this.#of(id).events();
	}

	#of(id: string): Session {
		if (id === this.#session.id) return this.#session;
		throw new KernelError("session-not-found", `Session not found: ${id}`);
	}

	#info(): SessionInfo {
		const { id, workDir, turnId, isWaiting, hasFailed, modelInUse } = this.#session;
		const { model, provider } = modelInUse ?? { model: "", provider: "" };
		const failed = hasFailed ? { hasFailed } : {};
		return { id, workDir, model, provider, isRunning: turnId !== null, isWaiting, ...failed, labels: {} };
	}
}

async function refuse(): Promise<never> {
	throw new KernelError("unsupported", "This process serves only one session.");
}
