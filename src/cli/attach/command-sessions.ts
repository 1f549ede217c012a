// Each session opens with the command's environment and options, and ends its turn with the command.

import type { SessionHandle, SessionsApi } from "../../api/kernel.ts";
import type { CreationOptions, ForkOptions, OpeningOptions } from "../../api/session-options.ts";
import type { ForkedSession } from "../../api/values/file-changes.ts";
import { toKernelError } from "../../base/errors.ts";
import { ForwardedSessions } from "../../cluster/forwarded-sessions.ts";

export interface CommandOptions {
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly additionalDirs?: readonly string[];
	/** In addition to those of the settings. */
	readonly mcpServers?: OpeningOptions["mcpServers"];
	readonly rules?: OpeningOptions["rules"];
	/** For new sessions; null for the settings. */
	readonly model?: string | null;
	readonly thinking?: boolean | null;
}

export class CommandSessions extends ForwardedSessions {
	readonly #command: CommandOptions;
	readonly #used = new Map<string, SessionHandle["session"]>();

	constructor(shared: SessionsApi, command: CommandOptions) {
		super(shared);
		this.#command = command;
	}

	override async create(options: CreationOptions): Promise<SessionHandle> {
		const { workDir, model = null, thinking } = this.#command;
		const creation = {
			...this.#opening(options),
			workDir: options.workDir ?? workDir,
			model: options.model ?? model,
			...(typeof thinking === "boolean" ? { thinking } : {}),
		};
		return this.#noted(await this.sessions.create(creation));
	}

	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		if (!this.#used.has(id)) await refuseUsed(id, this.sessions);
		return this.#noted(await this.sessions.acquire(id, this.#opening(options)));
	}

	override fork(id: string, options?: ForkOptions): Promise<ForkedSession> {
		return this.sessions.fork(id, { ...options, isOpenedAnew: true });
	}

	async stop(): Promise<void> {
		await Promise.all([...this.#used.values()].map(endTurn));
	}

	/** The same, and unloads those that nobody else uses. */
	async end(): Promise<void> {
		await this.stop();
		await Promise.all([...this.#used.keys()].map((id) => this.sessions.unload(id)));
	}

	#noted(handle: SessionHandle): SessionHandle {
		this.#used.set(handle.session.id, handle.session);
		return handle;
	}

	#opening<Options extends OpeningOptions>(options: Options): Options {
		const { environment, additionalDirs = [], rules = [], mcpServers = [] } = this.#command;
		return {
			...options,
			environment: { ...environment, ...options.environment },
			isWholeEnvironment: true,
			additionalDirs: [...additionalDirs, ...(options.additionalDirs ?? [])],
			rules: [...rules, ...(options.rules ?? [])],
			addedMcpServers: [...mcpServers, ...(options.addedMcpServers ?? [])],
		};
	}
}

/** A session in use keeps the options it was opened with: without this command's environment and rules. */
async function refuseUsed(id: string, sessions: SessionsApi): Promise<void> {
	const whyNot = await findUser(id, sessions);
	if (whyNot !== null) throw new Error(whyNot);
}

/** Why a command cannot open the session with its own options; null if it can. */
export async function findUser(id: string, sessions: SessionsApi): Promise<string | null> {
	await sessions.unload(id);
	const isUsed = (await sessions.loaded()).some((session) => session.id === id);
	return isUsed ? `others use the session ${id}.` : null;
}

/** Resolves once the turn has ended as cancelled. */
async function endTurn(session: SessionHandle["session"]): Promise<void> {
	const { turnId } = await session.snapshot();
	if (turnId === null) return;
	const attachment = await session.attach({ client: null, tools: [], hooks: null, capabilities: [] });
	try {
		if (attachment.snapshot.turnId === null) return;
		await session.send({ type: "turn.cancel" });
		for await (const batch of attachment.events) {
			if (batch.some(({ body, agentPath }) => body.type === "turn.ended" && agentPath.length === 0)) return;
		}
	} catch (thrown) {
		if (toKernelError(thrown).code !== "no-turn") throw thrown;
	} finally {
		attachment.close();
	}
}
