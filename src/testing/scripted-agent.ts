// A kernel with prepared answers over temporary directories.
import {
	type Agent,
	type AgentOptions,
	createAgent,
	type ScriptedAnswers,
	type ScriptedModel,
	scriptedModel,
} from "../index.ts";
import { startInTemporaryPlace, type TemporaryPlace } from "./temporary-place.ts";

export interface ScriptedAgentOptions extends Omit<AgentOptions, "home" | "userHome" | "models" | "store"> {
	/** The model's answers, in order, across all sessions. */
	readonly answers: ScriptedAnswers;
	/** `disk` keeps session files below `home` until `close`. Default: `memory`. */
	readonly store?: "memory" | "disk";
}

export interface ScriptedAgent extends Agent, TemporaryPlace {
	readonly model: ScriptedModel;
}

/**
 * Starts a kernel in this process whose model gives these answers. Settings default to none, and the environment to PATH, so
 * the developer's files and keys do not affect a test. `close` ends the kernel and removes the temporary directories.
 */
export async function scriptedAgent({
	answers,
	store = "memory",
	...options
}: ScriptedAgentOptions): Promise<ScriptedAgent> {
	const model = scriptedModel(answers);
	const agent = await startInTemporaryPlace(options.workDir, ({ home, workDir }) =>
		createAgent({
			settings: {},
			environment: { PATH: process.env["PATH"] ?? "", HOME: home },
			...options,
			home,
			workDir,
			models: { scripted: model },
			...(store === "memory" ? { store } : {}),
		}),
	);
	return Object.assign(agent, { model });
}
