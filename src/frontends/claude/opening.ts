import type { SessionHandle, SessionsApi } from "../../api/kernel.ts";
import { plainCreation } from "../../api/options.ts";
import type { OpeningOptions } from "../../api/session-options.ts";
import { toSessionMode } from "./modes.ts";
import type { ClaudeOptions } from "./options.ts";

export interface OpenedSession {
	readonly handle: SessionHandle;
	readonly source: "startup" | "resume";
}

export async function openSession(sessions: SessionsApi, options: ClaudeOptions): Promise<OpenedSession> {
	const opening = toOpening(options);
	const id = await toStoredId(sessions, options);
	if (id === null) return { handle: await create(sessions, options, opening), source: "startup" };
	const handle = await sessions.acquire(id, opening);
	const { session } = handle;
	await session.send({ type: "mode.set", mode: toSessionMode(options.permissionMode) });
	if (options.model !== null) await session.send({ type: "model.set", model: options.model, thinking: null });
	return { handle, source: "resume" };
}

function toOpening({ isStrictMcp, mcpServers, maxSteps, ...options }: ClaudeOptions): OpeningOptions {
	const { additionalDirs, environment, rules } = options;
	const servers = isStrictMcp ? { mcpServers } : { addedMcpServers: mcpServers };
	return { ...servers, additionalDirs, environment, rules, ...(maxSteps === null ? {} : { maxSteps }) };
}

async function toStoredId(sessions: SessionsApi, { session, newId, workDir }: ClaudeOptions): Promise<string | null> {
	if (session.kind === "new") return null;
	const id = session.kind === "stored" ? session.id : (await sessions.list({ workDir, limit: 1 })).sessions[0]?.id;
	if (id === undefined) return null;
	return session.isForked
		? (await sessions.fork(id, { isOpenedAnew: true, ...(newId === null ? {} : { id: newId }) })).id
		: id;
}

async function create(sessions: SessionsApi, options: ClaudeOptions, opening: OpeningOptions): Promise<SessionHandle> {
	const mode = toSessionMode(options.permissionMode);
	const handle = await sessions.create({
		...plainCreation,
		...opening,
		...(options.newId === null ? {} : { id: options.newId }),
		workDir: options.workDir,
		model: options.model,
		maxSteps: options.maxSteps,
		labels: { client: "claude-sdk" },
	});
	try {
		// Fails for a mode that settings forbid.
		if (mode !== "default") await handle.session.send({ type: "mode.set", mode });
	} catch (thrown) {
		await handle.discard();
		throw thrown;
	}
	return handle;
}
