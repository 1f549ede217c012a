import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Agent } from "../index.ts";

export const temporaryPrefix = "agentwire-test-";

export interface TemporaryPlace {
	readonly home: string;
	/** Where sessions work that name no other directory: a temporary one, unless the options name one. */
	readonly workDir: string;
}

/** Starts an agent in new directories, which its `close` removes. */
export async function startInTemporaryPlace(
	ownWorkDir: string | undefined,
	start: (place: TemporaryPlace) => Promise<Agent>,
): Promise<Agent & TemporaryPlace> {
	const directory = await realpath(await mkdtemp(path.join(tmpdir(), temporaryPrefix)));
	const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
	const home = path.join(directory, "home");
	const workDir = ownWorkDir ?? path.join(directory, "work");
	try {
		await mkdir(home);
		await mkdir(workDir, { recursive: true });
		const agent = await start({ home, workDir });
		const end = agent.close.bind(agent);
		let closing: Promise<void> | null = null;
		const close = () => {
			closing ??= end().finally(remove);
			return closing;
		};
		return Object.assign(agent, { home, workDir, close });
	} catch (thrown) {
		await remove();
		throw thrown;
	}
}
