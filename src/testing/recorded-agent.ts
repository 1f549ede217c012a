// A kernel over temporary directories whose model's answers were recorded.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Agent, type AgentOptions, createAgent } from "../index.ts";
import { startInTemporaryPlace, type TemporaryPlace } from "./temporary-place.ts";

export interface RecordedAgentOptions
	extends Omit<AgentOptions, "home" | "userHome" | "models" | "store" | "settings"> {
	/** The file with the recorded answers. */
	readonly cassette: string | URL;
	/** Shaped like config.toml. Without providers, the key in the environment decides, as for `agentwire`. */
	readonly settings?: Readonly<Record<string, unknown>>;
	/** Factor for recorded pauses. Default: 0, which replays answers at once. */
	readonly timeScale?: number;
	/** Faults to inject, such as `429@1`; see `agentwire record --help`. */
	readonly faults?: readonly string[];
	/** Texts of requests that change from run to run, and their placeholders. */
	readonly replace?: Readonly<Record<string, string>>;
	/** `disk` keeps session files below `home` until `close`. Default: `memory`. */
	readonly store?: "memory" | "disk";
}

export interface RecordedAgent extends Agent, TemporaryPlace {}

/** Set to 1 to ask providers and record the answers. */
const updateVariable = "AGENTWIRE_UPDATE_CASSETTES";

/**
 * Starts a kernel in this process whose model's answers come from a cassette. A request that is not in it fails with the
 * first difference from the nearest one. To record the cassette again, run the tests with AGENTWIRE_UPDATE_CASSETTES=1 and a
 * provider's key. `close` ends the kernel and removes the temporary directories.
 */
export async function recordedAgent({
	cassette,
	settings = {},
	timeScale = 0,
	faults = [],
	replace = {},
	store = "memory",
	environment = {},
	...options
}: RecordedAgentOptions): Promise<RecordedAgent> {
	const file = typeof cassette === "string" ? path.resolve(cassette) : fileURLToPath(cassette);
	const records = process.env[updateVariable] === "1";
	const variables = records ? providerVariables() : { [await keyVariable(file)]: "replayed" };
	const own: unknown = settings["agentwire"];
	return await startInTemporaryPlace(options.workDir, ({ home, workDir }) =>
		createAgent({
			...options,
			settings: {
				...settings,
				agentwire: {
					...(typeof own === "object" ? own : {}),
					cassette: {
						file,
						mode: records ? "record" : "replay",
						time_scale: timeScale,
						faults,
						replace: { [path.dirname(home)]: "<temporary>", ...replace },
					},
				},
			},
			environment: { PATH: process.env["PATH"] ?? "", HOME: home, ...variables, ...environment },
			home,
			workDir,
			...(store === "memory" ? { store } : {}),
		}),
	);
}

/** Keys and addresses. */
function providerVariables(): Record<string, string> {
	return Object.fromEntries(
		Object.entries(process.env).flatMap(([name, value]) =>
			value !== undefined && /_(?:API_KEY|BASE_URL)$/.test(name) ? [[name, value]] : [],
		),
	);
}

async function keyVariable(file: string): Promise<string> {
	const text = await readFile(file, "utf8").catch((thrown: unknown) => {
		const advice = `Run the test again with ${updateVariable}=1 and the key of a provider to record it.`;
		throw new Error(`There is no cassette ${file}. ${advice}`, { cause: thrown });
	});
	const [, provider = ""] = /"provider":"([a-z]+)/.exec(text) ?? [];
	return `${provider.toUpperCase()}_API_KEY`;
}
