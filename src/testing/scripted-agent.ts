// A kernel with prepared answers over temporary directories.
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
	type Agent,
	type AgentOptions,
	createAgent,
	type ScriptedAnswers,
	type ScriptedModel,
	scriptedModel,
} from "../index.ts";

export interface ScriptedAgentOptions extends Omit<AgentOptions, "home" | "userHome" | "models" | "store"> {
	/** What the model answers, in turn, across all sessions. */
	readonly answers: ScriptedAnswers;
	/** `disk` keeps session files below `home` until `close`. Default: `memory`. */
	readonly store?: "memory" | "disk";
}

export interface ScriptedAgent extends Agent {
	readonly model: ScriptedModel;
	/** The temporary directory for sessions, settings and logs. */
	readonly home: string;
	/** Where sessions work that name no other directory: a temporary one, unless the options name one. */
	readonly workDir: string;
}

/** The start of the name of each temporary directory. */
export const temporaryPrefix = "agentwire-test-";

/**
 * Starts a kernel in this process whose model gives these answers. Settings default to none, and the environment to PATH, so
 * that neither the developer's files nor keys change a test. `close` ends the kernel and removes the temporary directories.
 */
export async function scriptedAgent({
	answers,
	store = "memory",
	...options
}: ScriptedAgentOptions): Promise<ScriptedAgent> {
	const directory = await realpath(await mkdtemp(path.join(tmpdir(), temporaryPrefix)));
	const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
	const home = path.join(directory, "home");
	const workDir = options.workDir ?? path.join(directory, "work");
	const model = scriptedModel(answers);
	try {
		await mkdir(home);
		await mkdir(workDir, { recursive: true });
		const agent = await createAgent({
			settings: {},
			environment: { PATH: process.env["PATH"] ?? "", HOME: home },
			...options,
			home,
			workDir,
			models: { scripted: model },
			...(store === "memory" ? { store } : {}),
		});
		const end = agent.close.bind(agent);
		let closing: Promise<void> | null = null;
		const close = () => {
			closing ??= end().finally(remove);
			return closing;
		};
		return Object.assign(agent, { model, home, workDir, close });
	} catch (thrown) {
		await remove();
		throw thrown;
	}
}
