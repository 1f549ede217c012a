import { KernelError } from "../../base/errors.ts";
import type { SessionOptions } from "../../kernel/compose/session-options.ts";
import type { Kernel } from "../../kernel/hosting/kernel.ts";
import type { Session } from "../../kernel/session/session.ts";
import { isSessionId } from "../../ports/store/disk/work-dir.ts";
import type { NamedSession } from "../arguments/command-line.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { writeNotice } from "../process/standard-error.ts";
import { withoutPrefix } from "../sessions/session-prefix.ts";

export async function openSession(
	kernel: Kernel,
	workDir: string,
	choice: NamedSession,
	sessionOptions: SessionOptions,
): Promise<Session> {
	switch (choice.kind) {
		case "new":
			return await kernel.create(workDir, sessionOptions);
		case "id":
		case "existing": {
			if (!isSessionId(choice.id)) {
				throw new UsageError(
					`--session: ${JSON.stringify(choice.id)} cannot be the id of a session: an id is one name without slashes, of at most 200 bytes.`,
				);
			}
			const id = await toStoredId(kernel, choice.id);
			if (choice.kind === "existing" && (await kernel.workDirOf(id)) === null) {
				throw new KernelError(
					"session-not-found",
					`There is no session ${JSON.stringify(choice.id)}. To list the sessions, run \`agentwire sessions list\`.`,
				);
			}
			return await openById(kernel, workDir, id, sessionOptions);
		}
		case "anywhere": {
			const { id } = choice;
			const home = await kernel.workDirOf(id);
			if (home === null) throw new Error(`no work directory listed in kimi.json has a session ${id}`);
			return await kernel.openOrCreate(home, id, sessionOptions);
		}
		case "last": {
			const id = await kernel.lastSessionId(workDir);
			if (id === null) throw new UsageError(`--continue: there is no earlier session in ${workDir}.`);
			return await kernel.openOrCreate(workDir, id, sessionOptions);
		}
	}
}

/** A second session with the id of a session in another directory would look like that session, but empty. */
async function openById(kernel: Kernel, workDir: string, id: string, sessionOptions: SessionOptions): Promise<Session> {
	const home = (await kernel.workDirOf(id)) ?? workDir;
	if (home !== workDir) writeNotice(`The session ${id} belongs to ${home} and is opened there, not in ${workDir}.\n`);
	return await kernel.openOrCreate(home, id, sessionOptions);
}

/** Removes the kimi-code prefix from the id, unless a session with the full id exists. */
async function toStoredId(kernel: Kernel, id: string): Promise<string> {
	const bare = withoutPrefix(id);
	return bare === null || (await kernel.workDirOf(id)) !== null ? id : bare;
}
