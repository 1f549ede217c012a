import type { Flag } from "../flags.ts";
import { UsageError } from "../usage-error.ts";

export const sandboxModes = ["read-only", "workspace-write", "danger-full-access"] as const;
export type CodexSandbox = (typeof sandboxModes)[number];

export interface CodexExecOptions {
	readonly json: boolean;
	readonly prompt: string | null;
	/** The thread to continue; null starts a new one. */
	readonly resume: { readonly id: string } | "last" | null;
	readonly images: readonly string[];
	readonly outputSchema: string | null;
	readonly workDir: string | null;
	readonly additionalDirs: readonly string[];
	readonly model: string | null;
	readonly sandbox: CodexSandbox | null;
	readonly config: readonly string[];
}

export type CodexAction =
	| { readonly name: "exec"; readonly options: CodexExecOptions }
	| { readonly name: "app-server"; readonly config: readonly string[] }
	| { readonly name: "version" };

interface CodexFlag extends Omit<Flag, "key" | "exists"> {
	readonly sets: keyof CodexExecOptions | CodexSandbox | "last" | "listen" | "skipped";
}

const flags: readonly CodexFlag[] = [
	{ names: ["--experimental-json", "--json"], value: null, sets: "json", about: "Print each event as a line of JSON." },
	{ names: ["--image", "-i"], value: "FILE", offers: "files", sets: "images", about: "Attach an image; repeatable." },
	{
		names: ["--output-schema"],
		value: "FILE",
		offers: "files",
		sets: "outputSchema",
		about: "JSON Schema for the last message.",
	},
	{ names: ["--cd", "-C"], value: "DIR", offers: "directories", sets: "workDir", about: "Work in this directory." },
	{
		names: ["--add-dir"],
		value: "DIR",
		offers: "directories",
		sets: "additionalDirs",
		about: "Add a directory to the workspace; repeatable.",
	},
	{ names: ["--model", "-m"], value: "MODEL", sets: "model", about: "A model from config.toml." },
	{
		names: ["--sandbox", "-s"],
		value: "MODE",
		offers: sandboxModes,
		sets: "sandbox",
		about: "read-only, workspace-write or danger-full-access. Default: [sandbox] of config.toml, else read-only.",
	},
	{ names: ["--full-auto"], value: null, sets: "workspace-write", about: "The same as --sandbox workspace-write." },
	{
		names: ["--dangerously-bypass-approvals-and-sandbox", "--yolo"],
		value: null,
		sets: "danger-full-access",
		about: "The same as --sandbox danger-full-access.",
	},
	{ names: ["--config", "-c"], value: "KEY=VALUE", sets: "config", about: "Override a setting; repeatable." },
	{ names: ["--listen"], value: "ADDRESS", sets: "listen", about: "For app-server: stdio:// (the default)." },
	{ names: ["--last"], value: null, sets: "last", about: "Resume the last thread of the directory." },
	{ names: ["--skip-git-repo-check"], value: null, sets: "skipped", about: "No effect: no repository is needed." },
	{ names: ["--color"], value: "WHEN", sets: "skipped", about: "No effect." },
	{ names: ["--thread-source"], value: "TEXT", sets: "skipped", about: "No effect." },
];
export const codexFlags: readonly Omit<Flag, "key" | "exists">[] = flags;
export const codexUsage = flags
	.filter(({ sets }) => sets !== "last" && sets !== "listen")
	.map(({ names, value }) => `[${names[0]}${value === null ? "" : ` ${value}`}]`)
	.join(" ");

interface Given {
	readonly words: readonly string[];
	readonly values: ReadonlyMap<string, readonly string[]>;
	readonly switches: ReadonlySet<string>;
}

export function toCodexAction(words: readonly string[]): CodexAction | null {
	if (words.includes("--help") || words.includes("-h")) return null;
	if (words[0] === "--version" || words[0] === "-V") return { name: "version" };
	const given = split(words);
	const [action, ...rest] = given.words;
	if (action === "exec" || action === "e") return { name: "exec", options: toExecOptions(given, rest) };
	if (action === "app-server") return toAppServer(given, rest);
	if (action === undefined) throw new UsageError("The command 'codex' needs an action: exec or app-server.");
	throw new UsageError(
		`The command 'codex' does not know '${action}'; it takes exec and app-server. It has no terminal interface.`,
	);
}

function toAppServer({ values, switches }: Given, [word]: readonly string[]): CodexAction {
	if (word !== undefined) throw new UsageError(`'codex app-server' takes only flags, found '${word}'.`);
	const [other] = [...values.keys(), ...switches].filter((key) => !["config", "listen", "skipped"].includes(key));
	const flag = flags.find(({ sets }) => sets === other);
	if (flag !== undefined) throw new UsageError(`${flag.names[0]} works only with exec.`);
	const listen = values.get("listen")?.at(-1) ?? "stdio://";
	if (listen !== "stdio://") throw new UsageError(`--listen must be stdio://, found '${listen}'.`);
	return { name: "app-server", config: values.get("config") ?? [] };
}

function split(argv: readonly string[]): Given {
	const words: string[] = [];
	const values = new Map<string, string[]>();
	const switches = new Set<string>();
	let isLiteral = false;
	for (let position = 0; position < argv.length; position += 1) {
		const word = argv[position] ?? "";
		if (isLiteral || !word.startsWith("-") || word === "-") {
			words.push(word);
			continue;
		}
		if (word === "--") {
			isLiteral = true;
			continue;
		}
		const equals = word.startsWith("--") ? word.indexOf("=") : -1;
		const name = equals === -1 ? word : word.slice(0, equals);
		const flag = flags.find(({ names }) => names.includes(name));
		if (flag === undefined) {
			const known = flags.map(({ names }) => names[0]).join(", ");
			throw new UsageError(`The command 'codex exec' does not know ${name}; it takes ${known}.`);
		}
		if (flag.value === null) {
			if (equals !== -1) throw new UsageError(`${name} takes no value.`);
			switches.add(flag.sets);
			continue;
		}
		if (equals === -1) position += 1;
		const value = equals === -1 ? argv[position] : word.slice(equals + 1);
		if (value === undefined) throw new UsageError(`${name} needs a value (${flag.value}).`);
		values.set(flag.sets, [...(values.get(flag.sets) ?? []), value]);
	}
	return { words, values, switches };
}

function toExecOptions({ values, switches }: Given, rest: readonly string[]): CodexExecOptions {
	if (values.has("listen")) throw new UsageError("--listen works only with app-server.");
	const all = (key: keyof CodexExecOptions) => values.get(key) ?? [];
	const last = (key: keyof CodexExecOptions) => all(key).at(-1) ?? null;
	const resumes = rest[0] === "resume";
	const isLast = switches.has("last");
	if (isLast && !resumes) throw new UsageError("--last works only with resume.");
	const [id, ...others] = resumes && !isLast ? rest.slice(1) : [undefined, ...rest.slice(resumes ? 1 : 0)];
	if (resumes && !isLast && id === undefined) throw new UsageError("'codex exec resume' needs a THREAD, or --last.");
	const [prompt, surplus] = others;
	if (surplus !== undefined) throw new UsageError(`'codex exec' takes one PROMPT, in quotes; found '${surplus}' too.`);
	return {
		json: switches.has("json"),
		prompt: prompt === undefined || prompt === "-" ? null : prompt,
		resume: id === undefined ? (isLast ? "last" : null) : { id },
		images: all("images"),
		outputSchema: last("outputSchema"),
		workDir: last("workDir"),
		additionalDirs: all("additionalDirs"),
		model: last("model"),
		sandbox: toSandbox(last("sandbox"), "--sandbox") ?? sandboxModes.find((mode) => switches.has(mode)) ?? null,
		config: all("config"),
	};
}

export function toSandbox(value: string | null, named: string): CodexSandbox | null {
	if (value === null) return null;
	const mode = sandboxModes.find((one) => one === value);
	if (mode === undefined) throw new UsageError(`${named} must be ${sandboxModes.join(", ")}; found '${value}'.`);
	return mode;
}
