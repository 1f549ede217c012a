import type { SessionInfo } from "../../api/session-state.ts";
import type { Log } from "../../base/log.ts";
import type { Session } from "../session/session.ts";
import type { ChosenOptions } from "./hosted-options.ts";

/** Session info for clients. `session` is null while not loaded. */
export function toInfo(id: string, chosen: ChosenOptions, session: Session | null): SessionInfo {
	const { model, provider } = session?.modelInUse ?? chosen;
	const { labels, stagedInput, workDir } = chosen;
	const state = { isRunning: session !== null && isRunning(session), isWaiting: session?.isWaiting ?? false };
	const staged = stagedInput === undefined ? {} : { stagedInput };
	const failed = session?.hasFailed === true ? { hasFailed: true } : {};
	return { id, workDir, model, provider, ...state, ...failed, labels, ...staged };
}

/** Also true when unknown. */
export async function mayHaveBackgroundWork(session: Session, log: Log): Promise<boolean> {
	try {
		return (await session.send({ type: "tasks.list" })).tasks.length > 0;
	} catch (thrown) {
		log.warn("The background work of a session is not known.", { session: session.id, error: thrown });
		return true;
	}
}

export async function cancelAndArchive(session: Session): Promise<void> {
	await endTurn(session);
	await session.archive();
}

async function endTurn(session: Session): Promise<void> {
	if (isRunning(session)) await session.send({ type: "turn.cancel" });
	await session.idle();
}

/** Ends the turn and all background work, including work that may outlive the session. */
export async function endWork(session: Session, log: Log): Promise<void> {
	await endTurn(session);
	await session.send({ type: "tasks.end" }).catch((thrown: unknown) => {
		// Background work ends once its files are gone.
		log.warn("The background work of a session could not be ended.", { session: session.id, error: thrown });
	});
}

export function isRunning(session: Session): boolean {
	return session.turnId !== null;
}
