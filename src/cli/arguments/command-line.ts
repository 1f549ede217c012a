// The command line as data: which command, with which options, or a usage error that names the flag at fault.
// Looks at no file and no environment.
import { type BuiltInAgentName, builtInAgentNames } from "../../kernel/compose/agent-names.ts";
import { type CommandCall, type CommandName, commandNames, commands, isCommandName } from "./commands.ts";
import type { FlagKey } from "./flags.ts";
import { type PrintFormat, printFormats } from "./flags.ts";
import { type GivenFlag, type GivenFlags, splitFlags } from "./given-flags.ts";
import { parseTaskWorker, type TaskWorkerFlags, taskWorkerCommand } from "./task-worker-flags.ts";
import { UsageError } from "./usage-error.ts";

export type SessionChoice =
	| { readonly kind: "new" }
	/** Opened, or created under this id. */
	| { readonly kind: "id"; readonly id: string }
	/** The last one of the work dir. */
	| { readonly kind: "last" }
	/** Opened in whichever work dir it belongs to. */
	| { readonly kind: "anywhere"; readonly id: string }
	/** A person is to choose it: the flag, as typed, had no id. */
	| { readonly kind: "asked"; readonly flag: string };

/** A session that can be opened. */
export type NamedSession = Exclude<SessionChoice, { kind: "asked" }>;

export type ConfigurationChoice =
	| { readonly kind: "default" }
	| { readonly kind: "text"; readonly text: string }
	/** The path as typed. */
	| { readonly kind: "file"; readonly path: string };

/** What every mode of the program understands. */
export interface ProgramOptions {
	readonly debug: boolean;
	/** As typed; null for the current directory. */
	readonly workDir: string | null;
	readonly session: SessionChoice;
	readonly configuration: ConfigurationChoice;
	/** The built-in agent, unless there is a file. */
	readonly agent: BuiltInAgentName;
	/** The path as typed. */
	readonly agentFile: string | null;
	/** A model alias; null for the default model. */
	readonly model: string | null;
	/** Null for the configured default. */
	readonly thinking: boolean | null;
	readonly yolo: boolean;
	/** Start in plan mode. */
	readonly plan: boolean;
	/** Nobody is at the keyboard. */
	readonly afk: boolean;
	/** Null for the configured number. */
	readonly maxStepsPerTurn: number | null;
	readonly maxRetriesPerStep: number | null;
	/** At least -1. */
	readonly maxLoopIterations: number | null;
	/** As typed. */
	readonly additionalDirs: readonly string[];
	readonly skillsDirs: readonly string[];
	readonly mcpConfigFiles: readonly string[];
	/** JSON texts. */
	readonly mcpConfigs: readonly string[];
	/** Trimmed. Not used by a server, which should log that it was given. */
	readonly prompt: string | null;
}

export interface ServeOptions extends ProgramOptions {
	/** "wire" restricts the dialects to those of one session, "rpc" to those of many; null means that none was asked for. */
	readonly mode: "wire" | "rpc" | null;
}

export interface PrintOptions extends ProgramOptions {
	readonly inputFormat: PrintFormat;
	readonly outputFormat: PrintFormat;
	/** Print nothing but the last message of each turn. */
	readonly finalMessageOnly: boolean;
}

export type CommandLine =
	/** `command` is null for the program itself. */
	| { readonly kind: "help"; readonly command: CommandName | null }
	| { readonly kind: "version" }
	| Exclude<CommandCall, { kind: "rpc" }>
	| { readonly kind: "task-worker"; readonly flags: TaskWorkerFlags }
	| { readonly kind: "serve"; readonly options: ServeOptions }
	| { readonly kind: "print"; readonly options: PrintOptions };

/** Reads the arguments after the executable's name. Throws UsageError (exit code 2). */
export function parseCommandLine(argv: readonly string[]): CommandLine {
	if (argv[0] === taskWorkerCommand) return { kind: "task-worker", flags: parseTaskWorker(argv.slice(1)) };
	const given = splitFlags(argv);
	const first = given.last("help", "version");
	if (first !== null) return given.has("help") ? { kind: "help", command: null } : { kind: "version" };
	const [command, ...rest] = given.rest;
	// Its flags are the program's, and may stand on both sides of its name.
	if (command === "rpc")
		return parseCommand(command, [...argv.slice(0, argv.indexOf(command)), ...rest], splitFlags([]));
	if (command !== undefined) return parseCommand(command, rest, given);
	checkCombinations(given);
	const parsed: CommandLine = isPrint(given)
		? { kind: "print", options: toPrintOptions(given) }
		: { kind: "serve", options: toServeOptions(given) };
	refuseMissingFeatures(given);
	return parsed;
}

function parseCommand(command: string, rest: readonly string[], given: GivenFlags): CommandLine {
	if (command === workerCommand) return toWorker(rest, given);
	if (!isCommandName(command)) {
		const known = commandNames.join(", ");
		throw new UsageError(`There is no command '${command}'. Commands: ${known}. A prompt is given with -p.`);
	}
	const before = given.all[0];
	if (before !== undefined) throw new UsageError(`Cannot combine the command '${command}' with ${before.name}.`);
	const call = commands[command].parse(rest);
	if (call === null) return { kind: "help", command };
	return call.kind === "rpc" ? toRpc(call.words) : call;
}

/** Flags that are about one session, or about another way to be driven. */
export const notForMany: readonly FlagKey[] = ["session", "continue", "print", "quiet", "acp", "wire", "ui", "prompt"];

function toRpc(words: readonly string[]): CommandLine {
	const given = splitFlags(words);
	const [word] = given.rest;
	if (word !== undefined) throw new UsageError(`The command 'rpc' takes flags alone, found '${word}'.`);
	const other = given.last(...notForMany)?.name;
	if (other !== undefined) throw new UsageError(`Cannot combine the command 'rpc' with ${other}.`);
	checkCombinations(given);
	refuseMissingFeatures(given);
	return { kind: "serve", options: { ...toServeOptions(given), mode: "rpc" } };
}

/** By this name the web backend of kimi starts a server for a session that it made. */
const workerCommand = "__web-worker";

function toWorker(rest: readonly string[], given: GivenFlags): CommandLine {
	const [id, ...more] = rest;
	if (id === undefined || more.length > 0 || given.all.length > 0) {
		throw new UsageError(`The command '${workerCommand}' takes the id of a session and nothing else.`);
	}
	return { kind: "serve", options: { ...toServeOptions(given), mode: "wire", session: { kind: "anywhere", id } } };
}

const exclusive: readonly (readonly FlagKey[])[] = [
	["print", "acp", "wire"],
	["agent", "agent-file"],
	["continue", "session"],
	["config", "config-file"],
	["quiet", "acp"],
	["quiet", "wire"],
];
/** Flags that mean something in print mode alone. */
export const printOnly: readonly FlagKey[] = ["input-format", "output-format", "final-message-only"];

function checkCombinations(given: GivenFlags): void {
	for (const keys of exclusive) {
		const names = keys.flatMap((key) => spelling(given, key) ?? []);
		if (names.length > 1) throw new UsageError(`Cannot combine ${names.join(" and ")}.`);
	}
	const format = given.last("output-format");
	if (given.has("quiet") && format !== null && format.value !== "text") {
		throw new UsageError("Cannot combine --quiet with an output format other than text.");
	}
	if (isPrint(given)) return;
	for (const key of printOnly) {
		if (given.has(key)) throw new UsageError(`--${key} works only with --print or --prompt.`);
	}
}

/** How the flag was typed; `--ui wire` counts as `--wire`. */
function spelling(given: GivenFlags, key: FlagKey): string | null {
	if (key === "wire" && isWire(given)) return given.last("wire")?.name ?? "--ui wire";
	return given.last(key)?.name ?? null;
}

/** A prompt alone is answered as well: a server has no use for it, and would wait for a client. */
const isPrint = (given: GivenFlags) =>
	given.has("print") || given.has("quiet") || (given.has("prompt") && !isWire(given) && !given.has("acp"));
const isWire = (given: GivenFlags) => given.has("wire") || given.last("ui")?.value === "wire";

function refuseMissingFeatures(given: GivenFlags): void {
	const names = new Set(given.all.filter(({ flag }) => !flag.exists).map(({ name }) => name));
	if (names.size === 0) return;
	throw new UsageError(`${[...names].join(", ")}: not available in this version.`);
}

function toServeOptions(given: GivenFlags): ServeOptions {
	const options = toProgramOptions(given);
	if (!isWire(given)) return { ...options, mode: null };
	const { session } = options;
	if (session.kind === "asked") throw new UsageError(`${session.flag} needs the id of a session.`);
	return { ...options, mode: "wire" };
}

function toPrintOptions(given: GivenFlags): PrintOptions {
	return {
		...toProgramOptions(given),
		inputFormat: toFormat(given.last("input-format")),
		outputFormat: toFormat(given.last("output-format")),
		finalMessageOnly: given.has("final-message-only") || given.has("quiet"),
	};
}

function toFormat(given: GivenFlag | null): PrintFormat {
	if (given === null) return "text";
	const format = printFormats.find((name) => name === given.value);
	if (format !== undefined) return format;
	throw new UsageError(`${given.name} must be ${printFormats.join(" or ")}.`);
}

function toProgramOptions(given: GivenFlags): ProgramOptions {
	checkInterface(given.last("ui"));
	return {
		debug: given.has("debug"),
		workDir: requiredText(given.last("work-dir")),
		session: toSession(given),
		configuration: toConfigurationChoice(given),
		agent: toAgent(given.last("agent")),
		agentFile: requiredText(given.last("agent-file")),
		model: given.last("model")?.value ?? null,
		thinking: toThinking(given),
		yolo: given.has("yolo"),
		plan: given.has("plan"),
		afk: given.has("afk"),
		maxStepsPerTurn: toCount(given.last("max-steps-per-turn")),
		maxRetriesPerStep: toCount(given.last("max-retries-per-step")),
		maxLoopIterations: toCount(given.last("max-ralph-iterations"), -1),
		additionalDirs: toTexts(given, "add-dir"),
		skillsDirs: toTexts(given, "skills-dir"),
		mcpConfigFiles: toTexts(given, "mcp-config-file"),
		mcpConfigs: toTexts(given, "mcp-config"),
		prompt: requiredText(given.last("prompt"))?.trim() ?? null,
	};
}

function checkInterface(ui: GivenFlag | null): void {
	const name = requiredText(ui);
	if (name === null || name === "wire") return;
	throw new UsageError(`--ui ${name}: not available in this version; only '--ui wire' is.`);
}

function toAgent(agent: GivenFlag | null): BuiltInAgentName {
	const name = requiredText(agent);
	if (name === null) return "default";
	const known = builtInAgentNames.find((each) => each === name);
	if (known !== undefined) return known;
	throw new UsageError(`--agent ${name}: there is no such agent; there are ${builtInAgentNames.join(" and ")}.`);
}

function toSession(given: GivenFlags): SessionChoice {
	if (given.has("continue")) return { kind: "last" };
	const session = given.last("session");
	if (session === null) return { kind: "new" };
	if (session.value === null) return { kind: "asked", flag: session.name };
	const id = session.value.trim();
	if (id === "") throw new UsageError(`${session.name} needs the id of a session.`);
	return { kind: "id", id };
}

function toConfigurationChoice(given: GivenFlags): ConfigurationChoice {
	const text = requiredText(given.last("config"));
	if (text !== null) return { kind: "text", text };
	const path = requiredText(given.last("config-file"));
	return path === null ? { kind: "default" } : { kind: "file", path };
}

function toThinking(given: GivenFlags): boolean | null {
	const last = given.last("thinking", "no-thinking");
	return last === null ? null : last.flag.key === "thinking";
}

/** The value as typed, which must not be blank. */
function requiredText(given: GivenFlag | null): string | null {
	if (given === null) return null;
	if (given.value === null || given.value.trim() === "") throw new UsageError(`${given.name} must not be empty.`);
	return given.value;
}

function toCount(given: GivenFlag | null, minimum = 1): number | null {
	if (given === null) return null;
	const value = /^[+-]?\d+$/.test(given.value ?? "") ? Number(given.value) : Number.NaN;
	if (value >= minimum && Number.isSafeInteger(value)) return value;
	throw new UsageError(`${given.name} must be an integer of at least ${minimum}.`);
}

/** The values of a flag that may be repeated. */
function toTexts(given: GivenFlags, key: FlagKey): readonly string[] {
	return given.all.filter(({ flag }) => flag.key === key).map((one) => requiredText(one) ?? "");
}
