// Reads no files or environment variables.
import { type ContractVersion, contractForm, parseContractVersion } from "../../base/contract-version.ts";
import { type TaskWorkerFlags, taskWorkerCommand } from "../../host/task-worker-arguments.ts";
import { type BuiltInAgentName, builtInAgentNames } from "../../kernel/compose/agent-names.ts";
import { type CommandCall, type CommandName, commandNames, commands, isCommandName } from "./commands.ts";
import { type Conventions, type Family, plainConventions } from "./conventions.ts";
import {
	type AcpProtocol,
	acpProtocols,
	type FlagKey,
	nearestOf,
	type PrintFormat,
	printFormats,
	type TextForm,
	textForms,
} from "./flags.ts";
import { type GivenFlag, type GivenFlags, splitFlags } from "./given-flags.ts";
import type { ChatFlags } from "./options/chat-options.ts";
import type { GatewayFlags } from "./options/gateway-options.ts";
import { parseTaskWorker } from "./options/task-worker-flags.ts";
import type { WorkerFlags } from "./options/worker-options.ts";
import { type RealmChoice, realmFlags, toRealm } from "./realm.ts";
import type { ClaudeFlags } from "./sdk/claude-options.ts";
import { UsageError } from "./usage-error.ts";

export type SessionChoice =
	| { readonly kind: "new" }
	| { readonly kind: "id"; readonly id: string }
	/** Must exist. */
	| { readonly kind: "existing"; readonly id: string }
	| { readonly kind: "last" }
	/** Opened in its own work directory. */
	| { readonly kind: "anywhere"; readonly id: string }
	| { readonly kind: "asked"; readonly flag: string };

export type NamedSession = Exclude<SessionChoice, { kind: "asked" }>;

export type ConfigurationChoice =
	| { readonly kind: "default" }
	| { readonly kind: "text"; readonly text: string }
	/** The path as typed. */
	| { readonly kind: "file"; readonly path: string };

export interface ProgramOptions {
	readonly debug: boolean;
	readonly workDir: string | null;
	readonly session: SessionChoice;
	readonly configuration: ConfigurationChoice;
	/** Ignored if `agentFile` is set. */
	readonly agent: BuiltInAgentName;
	readonly agentFile: string | null;
	readonly model: string | null;
	readonly thinking: boolean | null;
	readonly yolo: boolean;
	/** Ends the turn if another process is running the session. */
	readonly takeOver: boolean;
	readonly plan: boolean;
	readonly afk: boolean;
	readonly maxStepsPerTurn: number | null;
	readonly maxRetriesPerStep: number | null;
	/** At least -1. */
	readonly maxLoopIterations: number | null;
	readonly additionalDirs: readonly string[];
	readonly skillsDirs: readonly string[];
	readonly mcpConfigFiles: readonly string[];
	/** JSON texts. */
	readonly mcpConfigs: readonly string[];
	readonly prompt: string | null;
}

export interface RealmOptions {
	readonly realm: RealmChoice | null;
	/** Replaces the home directory for the configuration of Meerkat clients; as typed. */
	readonly userConfigRoot: string | null;
}

export interface ServeOptions extends ProgramOptions, RealmOptions {
	/** "wire" for single-session clients, "acp" for the Agent Client Protocol, "stdio" for the public operations. */
	readonly mode: "wire" | "rpc" | "acp" | "codex" | "stdio" | null;
	/** The Agent Client Protocol version; `auto` means the version the client asks for. */
	readonly acpProtocol: AcpProtocol;
	/** The Meerkat contract version; null means the configured version. */
	readonly contract: ContractVersion | null;
}

export interface PrintOptions extends ProgramOptions {
	readonly inputFormat: PrintFormat;
	readonly outputFormat: PrintFormat;
	/** The family whose stream-json format is printed. */
	readonly lines: Family;
	readonly textForm: TextForm;
	readonly finalMessageOnly: boolean;
}

export type CommandLine =
	/** `command` is null for the program itself. */
	| { readonly kind: "help"; readonly command: CommandName | null }
	| { readonly kind: "version" }
	| Exclude<CommandCall, { readonly words: readonly string[] }>
	| { readonly kind: "task-worker"; readonly flags: TaskWorkerFlags }
	| { readonly kind: "serve"; readonly options: ServeOptions }
	| { readonly kind: "doctor"; readonly json: boolean; readonly options: ProgramOptions }
	| { readonly kind: "claude"; readonly options: ProgramOptions; readonly flags: ClaudeFlags }
	| { readonly kind: "gateway"; readonly options: ProgramOptions; readonly flags: GatewayFlags }
	| { readonly kind: "chat"; readonly options: ProgramOptions; readonly flags: ChatFlags }
	| { readonly kind: "worker"; readonly options: ProgramOptions; readonly flags: WorkerFlags }
	| { readonly kind: "print"; readonly options: PrintOptions };

export function parseCommandLine(argv: readonly string[], conventions: Conventions = plainConventions): CommandLine {
	if (argv[0] === taskWorkerCommand) return { kind: "task-worker", flags: parseTaskWorker(argv.slice(1)) };
	const given = splitFlags(argv, conventions.family);
	const first = given.last("help", "version");
	if (first !== null) return given.has("help") ? { kind: "help", command: null } : { kind: "version" };
	const [command, ...rest] = given.rest;
	const flagWords = argv.slice(0, argv.length - given.rest.length);
	const isPrompt = command !== undefined && (given.isRestMarked || (rest.length === 0 && /\s/.test(command.trim())));
	if (isPrompt) {
		if (given.has("prompt"))
			throw new UsageError(`Give one prompt, either with ${given.last("prompt")?.name} or on its own.`);
		const before = given.isRestMarked ? flagWords.slice(0, -1) : flagWords;
		return parseCommandLine([...before, `--prompt=${given.rest.join(" ")}`], conventions);
	}
	if (command === "help" && given.all.length === 0) return toHelp(rest);
	if (command === "version" && given.rest.length + given.all.length === 1) return { kind: "version" };
	// These commands accept program flags before and after the command name.
	if (
		command === "doctor" ||
		command === "rpc" ||
		command === "acp" ||
		command === "serve" ||
		command === "web" ||
		command === "chat" ||
		command === "worker"
	) {
		return parseCommand(command, [...flagWords, ...rest], splitFlags([]), conventions);
	}
	if (command !== undefined) return parseCommand(command, rest, given, conventions);
	checkCombinations(given, given.has("acp"));
	if (given.has("acp")) return toHost("acp", "the flag --acp", given, conventions);
	return isPrint(given)
		? { kind: "print", options: toPrintOptions(given, conventions) }
		: { kind: "serve", options: toServeOptions(given, conventions) };
}

function toHelp([command, other]: readonly string[]): CommandLine {
	if (other !== undefined) throw new UsageError(`'help' takes one command, found '${other}' too.`);
	if (command === undefined) return { kind: "help", command: null };
	return isCommandName(command) ? { kind: "help", command } : refuseCommand(command);
}

function refuseCommand(command: string): never {
	const nearest = nearestOf(command, commandNames);
	const known = nearest === null ? `Commands: ${commandNames.join(", ")}.` : `Did you mean '${nearest}'?`;
	throw new UsageError(`Unknown command '${command}'. ${known} Put a prompt in quotes, or pass it with -p.`);
}

function parseCommand(
	command: string,
	rest: readonly string[],
	given: GivenFlags,
	conventions: Conventions,
): CommandLine {
	if (command === workerCommand) return toWorker(rest, given, conventions);
	if (!isCommandName(command)) refuseCommand(command);
	const before = given.all[0];
	if (before !== undefined) throw new UsageError(`Cannot combine the command '${command}' with ${before.name}.`);
	const call = commands[command].parse(rest);
	if (call === null) return { kind: "help", command };
	if (!("words" in call)) return call;
	const others = splitFlags(call.words);
	if (others.has("version")) return { kind: "version" };
	if (call.kind === "doctor") return { kind: "doctor", json: call.json, options: toOptionsOfMany("doctor", others) };
	if (call.kind === "claude") return { kind: "claude", options: toProgramOptions(others), flags: call.flags };
	if (call.kind === "gateway") {
		const name = call.flags.page === null ? "serve" : "web";
		return { kind: "gateway", options: toOptionsOfMany(name, others), flags: call.flags };
	}
	if (call.kind === "chat") return { kind: "chat", options: toOptionsOfMany("chat", others), flags: call.flags };
	if (call.kind === "worker") {
		return { kind: "worker", options: toOptionsOfMany("worker", others), flags: call.flags };
	}
	const name = call.kind === "stdio" ? "serve --stdio" : call.kind;
	return toHost(call.kind, `the command '${name}'`, others, conventions);
}

type HostMode = "rpc" | "acp" | "stdio";

const aboutOne: readonly FlagKey[] = ["session", "continue", "print", "quiet", "wire", "ui"];
/** Flags each mode rejects because they concern a single session or another mode. */
export const notForMany: Readonly<Record<HostMode | "serve", readonly FlagKey[]>> = {
	rpc: [...aboutOne, "acp", "acp-protocol", "prompt"],
	acp: [...aboutOne, "contract", "prompt", ...realmFlags],
	serve: [...aboutOne, "acp", "acp-protocol", "contract", "prompt", ...realmFlags],
	stdio: [...aboutOne, "acp", "acp-protocol", "contract", "prompt", ...realmFlags],
};

/** `what` names the flag or command that requested the mode. */
function toHost(mode: HostMode, what: string, given: GivenFlags, conventions: Conventions): CommandLine {
	const [word] = given.rest;
	if (word !== undefined) throw new UsageError(`${capitalized(what)} takes only flags, found '${word}'.`);
	const other = given.last(...notForMany[mode])?.name;
	if (other !== undefined) throw new UsageError(`Cannot combine ${what} with ${other}.`);
	checkCombinations(given, mode === "acp", mode === "rpc");
	const asked = {
		acpProtocol: toAcpProtocol(given),
		...(given.has("contract") ? { contract: toContract(given) } : {}),
		realm: toRealm(given),
		userConfigRoot: requiredText(given.last("user-config-root")),
	};
	return { kind: "serve", options: { ...toServeOptions(given, conventions), mode, ...asked } };
}

function toOptionsOfMany(command: string, given: GivenFlags): ProgramOptions {
	const [word] = given.rest;
	if (word !== undefined) throw new UsageError(`The command '${command}' takes only flags, found '${word}'.`);
	const other = given.last(...notForMany.serve)?.name;
	if (other !== undefined) throw new UsageError(`Cannot combine the command '${command}' with ${other}.`);
	checkCombinations(given);
	return toProgramOptions(given);
}

function toContract(given: GivenFlags): ContractVersion {
	const version = parseContractVersion(given.last("contract")?.value ?? "");
	if (version === null) throw new UsageError(`--contract must be ${contractForm}.`);
	return version;
}

function toAcpProtocol(given: GivenFlags): AcpProtocol {
	const value = given.last("acp-protocol")?.value ?? "1";
	const known = acpProtocols.find((each) => each === value);
	if (known === undefined) throw new UsageError("--acp-protocol must be 1, 2 or auto.");
	return known;
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The kimi web backend uses this command to start a server for a session it created. */
const workerCommand = "__web-worker";

function toWorker(rest: readonly string[], given: GivenFlags, conventions: Conventions): CommandLine {
	const [id, ...more] = rest;
	if (id === undefined || more.length > 0 || given.all.length > 0) {
		throw new UsageError(`The command '${workerCommand}' takes the id of a session and nothing else.`);
	}
	return {
		kind: "serve",
		options: { ...toServeOptions(given, conventions), mode: "wire", session: { kind: "anywhere", id } },
	};
}

const exclusive: readonly (readonly FlagKey[])[] = [
	["print", "acp", "wire"],
	["agent", "agent-file"],
	["continue", "session"],
	["work-dir", "context-root"],
	["config", "config-file"],
	["yolo", "auto"],
	["quiet", "acp"],
	["quiet", "wire"],
];
export const printOnly: readonly FlagKey[] = ["input-format", "output-format", "print-format", "final-message-only"];
/** Flags of kimi-cli's print mode; each one selects its output format. */
const printOfKimiCli: readonly FlagKey[] = ["print", "quiet", "input-format", "final-message-only"];

function checkCombinations(given: GivenFlags, servesAcp = false, servesMeerkat = false): void {
	for (const keys of exclusive) {
		const names = keys.flatMap((key) => spelling(given, key) ?? []);
		if (names.length > 1) throw new UsageError(`Cannot combine ${names.join(" and ")}.`);
	}
	const format = given.last("output-format");
	if (given.has("quiet") && format !== null && format.value !== "text") {
		throw new UsageError("Cannot combine --quiet with an output format other than text.");
	}
	if (given.has("contract") && !servesMeerkat) throw new UsageError("--contract works only with rpc.");
	const ofRealm = given.last(...realmFlags);
	if (ofRealm !== null && !servesMeerkat) throw new UsageError(`${ofRealm.name} works only with rpc.`);
	if (given.has("acp-protocol") && !servesAcp) throw new UsageError("--acp-protocol works only with acp.");
	if (given.has("print-format") && (given.has("quiet") || (format !== null && format.value !== "text"))) {
		throw new UsageError("--print-format works only with text output that is not cut to the final message.");
	}
	if (isPrint(given)) return;
	for (const key of printOnly) {
		if (given.has(key)) throw new UsageError(`--${key} works only with --print or --prompt.`);
	}
}

function spelling(given: GivenFlags, key: FlagKey): string | null {
	if (key === "wire" && isWire(given)) return given.last("wire")?.name ?? "--ui wire";
	return given.last(key)?.name ?? null;
}

/** A prompt without a mode also means print mode: a server would ignore the prompt and wait for a client. */
const isPrint = (given: GivenFlags) =>
	given.has("print") || given.has("quiet") || (given.has("prompt") && !isWire(given) && !given.has("acp"));
const isWire = (given: GivenFlags) => given.has("wire") || given.last("ui")?.value === "wire";

const noRealm = { realm: null, userConfigRoot: null };

function toServeOptions(given: GivenFlags, conventions: Conventions): ServeOptions {
	const options = toProgramOptions(given);
	if (!isWire(given)) return { ...options, mode: null, acpProtocol: "1", contract: conventions.contract, ...noRealm };
	const { session } = options;
	if (session.kind === "asked") throw new UsageError(`${session.flag} needs the id of a session.`);
	return { ...options, mode: "wire", acpProtocol: "1", contract: conventions.contract, ...noRealm };
}

function toPrintOptions(given: GivenFlags, { family, printsRepr, outputFormat }: Conventions): PrintOptions {
	const isOfKimiCli = family === "kimi-cli" || given.last(...printOfKimiCli) !== null;
	const format = given.last("output-format");
	const variable = { name: "KIMI_MODEL_OUTPUT_FORMAT", value: outputFormat };
	const isRepr = printsRepr && isOfKimiCli;
	const options = toProgramOptions(given);
	const { session } = options;
	return {
		...options,
		session: family === "kimi-code" && session.kind === "id" ? { ...session, kind: "existing" } : session,
		// Print runs are unattended, but only --afk records that in the session.
		afk: given.has("afk"),
		inputFormat: toWord(given.last("input-format"), printFormats) ?? "text",
		outputFormat: toWord(format ?? (isOfKimiCli || outputFormat === null ? null : variable), printFormats) ?? "text",
		lines: isOfKimiCli ? "kimi-cli" : "kimi-code",
		textForm: toWord(given.last("print-format"), textForms) ?? (isRepr ? "repr" : "people"),
		finalMessageOnly: given.has("final-message-only") || given.has("quiet"),
	};
}

function toWord<W extends string>(given: Pick<GivenFlag, "name" | "value"> | null, words: readonly W[]): W | null {
	if (given === null) return null;
	const word = words.find((one) => one === given.value);
	if (word !== undefined) return word;
	throw new UsageError(`${given.name} must be ${words.join(" or ")}.`);
}

function toProgramOptions(given: GivenFlags): ProgramOptions {
	checkInterface(given.last("ui"));
	return {
		debug: given.has("debug"),
		workDir: requiredText(given.last("work-dir", "context-root")),
		session: toSession(given),
		configuration: toConfigurationChoice(given),
		agent: toAgent(given.last("agent")),
		agentFile: requiredText(given.last("agent-file")),
		model: given.last("model")?.value ?? null,
		thinking: toThinking(given),
		yolo: given.has("yolo"),
		takeOver: given.has("take-over"),
		plan: given.has("plan"),
		afk: given.has("afk") || given.has("auto"),
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
	throw new UsageError(`--agent ${name}: unknown agent; the built-in ones are ${builtInAgentNames.join(" and ")}.`);
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

function toTexts(given: GivenFlags, key: FlagKey): readonly string[] {
	return given.all.filter(({ flag }) => flag.key === key).map((one) => requiredText(one) ?? "");
}
