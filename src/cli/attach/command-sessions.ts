// The gateway's sessions as one relayed command sees them: each opens with the command's environment and options, and ends its
// turn with the command.
import { toKernelError } from "../../base/errors.ts";
import type { CreationOptions, OpeningOptions, SessionHandle, SessionsApi } from "../../kernel/api.ts";

export interface CommandOptions {
	/** Default work directory, absolute. */
	readonly workDir: string;
	/** The command's whole environment. */
	readonly environment: Readonly<Record<string, string>>;
	readonly additionalDirs?: readonly string[];
	/** In addition to those of the settings. */
	readonly mcpServers?: OpeningOptions["mcpServers"];
	readonly rules?: OpeningOptions["rules"];
	/** For new sessions; null for the settings. */
	readonly model?: string | null;
	readonly thinking?: boolean | null;
}

export interface CommandSessions {
	readonly sessions: SessionsApi;
	/** Ends the turns of its sessions as cancelled, and unloads those that nobody else uses. */
	end(): Promise<void>;
}

export function createCommandSessions(shared: SessionsApi, command: CommandOptions): CommandSessions {
	const used = new Map<string, SessionHandle["session"]>();
	const opening = <Options extends OpeningOptions>(options: Options): Options => ({
		...options,
		environment: { ...command.environment, ...options.environment },
		isWholeEnvironment: true,
		additionalDirs: [...(command.additionalDirs ?? []), ...(options.additionalDirs ?? [])],
		rules: [...(command.rules ?? []), ...(options.rules ?? [])],
		addedMcpServers: [...(command.mcpServers ?? []), ...(options.addedMcpServers ?? [])],
	});
	const noted = (handle: SessionHandle): SessionHandle => {
		used.set(handle.session.id, handle.session);
		return handle;
	};
	const creation = (options: CreationOptions): CreationOptions => ({
		...opening(options),
		workDir: options.workDir ?? command.workDir,
		model: options.model ?? command.model ?? null,
		...(typeof command.thinking === "boolean" ? { thinking: command.thinking } : {}),
	});
	const sessions: SessionsApi = {
		takesEditorFiles: shared.takesEditorFiles,
		create: async (options) => noted(await shared.create(creation(options))),
		acquire: async (id, options = {}) => {
			if (!used.has(id)) await refuseUsed(id, shared);
			return noted(await shared.acquire(id, opening(options)));
		},
		fork: (id, options) => shared.fork(id, { ...options, isOpenedAnew: true }),
		loaded: () => shared.loaded(),
		list: (query) => shared.list(query),
		storedEvents: (session) => shared.storedEvents(session),
		models: () => shared.models(),
		skills: () => shared.skills(),
		skillText: (name) => shared.skillText(name),
		interrupt: (id) => shared.interrupt(id),
		unload: (id) => shared.unload(id),
		archive: (id) => shared.archive(id),
		unarchive: (id) => shared.unarchive(id),
		delete: (id) => shared.delete(id),
		stop: async () => void (await Promise.all([...used.values()].map(endTurn))),
	};
	return {
		sessions,
		async end() {
			await sessions.stop();
			await Promise.all([...used.keys()].map((id) => shared.unload(id)));
		},
	};
}

/** A session in use keeps the options it was opened with: without this command's environment and rules. */
async function refuseUsed(id: string, sessions: SessionsApi): Promise<void> {
	const whyNot = await findUser(id, sessions);
	if (whyNot !== null) throw new Error(whyNot);
}

/** Why a command cannot open the session with options of its own; null if it can. */
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
