import { builtInAgentNames } from "../../kernel/compose/agent-names.ts";

export const printFormats = ["text", "stream-json"] as const;
export type PrintFormat = (typeof printFormats)[number];

/** Text output for people, or in kimi-cli's repr format for bridges that parse it. */
export const textForms = ["people", "repr"] as const;
export type TextForm = (typeof textForms)[number];

export const acpProtocols = ["1", "2", "auto"] as const;
export type AcpProtocol = (typeof acpProtocols)[number];

export type FlagKey =
	| "version"
	| "help"
	| "verbose"
	| "debug"
	| "work-dir"
	| "add-dir"
	| "session"
	| "continue"
	| "config"
	| "config-file"
	| "model"
	| "thinking"
	| "no-thinking"
	| "yolo"
	| "take-over"
	| "plan"
	| "afk"
	| "auto"
	| "prompt"
	| "print"
	| "wire"
	| "ui"
	| "acp"
	| "acp-protocol"
	| "contract"
	| "realm"
	| "isolated"
	| "instance"
	| "realm-backend"
	| "state-root"
	| "context-root"
	| "user-config-root"
	| "input-format"
	| "output-format"
	| "print-format"
	| "final-message-only"
	| "quiet"
	| "agent"
	| "agent-file"
	| "mcp-config-file"
	| "mcp-config"
	| "skills-dir"
	| "max-steps-per-turn"
	| "max-retries-per-step"
	| "max-ralph-iterations";

/** Completion candidates for a value: file names, directory names, or these words. */
export type Offers = "files" | "directories" | readonly string[];

export interface Flag {
	readonly key: FlagKey;
	readonly names: readonly [string, ...string[]];
	readonly value: string | null;
	readonly valueIsOptional?: true;
	readonly offers?: Offers;
	readonly about: string;
}

export const flags: readonly Flag[] = [
	{ key: "wire", names: ["--wire"], value: null, about: "Serve Kimi Wire (and its predecessor) on stdin and stdout." },
	{
		key: "acp",
		names: ["--acp"],
		value: null,
		about: "Serve the Agent Client Protocol, for editors, as the command 'acp' does.",
	},
	{
		key: "acp-protocol",
		names: ["--acp-protocol"],
		value: "VERSION",
		offers: acpProtocols,
		about: "Version of that protocol: 1 (default), 2 (experimental), or auto, as the client asks.",
	},
	{
		key: "contract",
		names: ["--contract"],
		value: "VERSION",
		offers: ["0.8", "0.9"],
		about:
			"With rpc: the Meerkat contract version to report to clients, 0.3 to 0.9. Also AGENTWIRE_CONTRACT, and agentwire.contract in the settings.",
	},
	{
		key: "realm",
		names: ["--realm"],
		value: "NAME",
		about: "With rpc: use this realm's own sessions and configuration.",
	},
	{
		key: "isolated",
		names: ["--isolated"],
		value: null,
		about: "With rpc: a new realm for this process only.",
	},
	{
		key: "instance",
		names: ["--instance"],
		value: "NAME",
		about: "With a realm: this process's name in it, for clients that ask for the configuration.",
	},
	{
		key: "realm-backend",
		names: ["--realm-backend"],
		value: "KIND",
		offers: ["jsonl", "memory"],
		about: "With a realm: 'jsonl' stores files (default), 'memory' keeps sessions until the process ends.",
	},
	{
		key: "state-root",
		names: ["--state-root"],
		value: "DIR",
		offers: "directories",
		about: "With a realm: the parent directory of all realms. Default: 'realms' in the share directory.",
	},
	{
		key: "context-root",
		names: ["--context-root"],
		value: "DIR",
		offers: "directories",
		about: "With rpc: the project directory; the same as --work-dir.",
	},
	{
		key: "user-config-root",
		names: ["--user-config-root"],
		value: "DIR",
		offers: "directories",
		about:
			"With rpc, without a realm: the directory of .rkat/config.toml if the project has none. Default: the home directory.",
	},
	{ key: "ui", names: ["--ui"], value: "NAME", offers: ["wire"], about: "Old spelling: '--ui wire' means --wire." },
	{
		key: "print",
		names: ["--print"],
		value: null,
		about: "Answer the prompt from --prompt or stdin on stdout, approve everything, and exit. For scripts.",
	},
	{
		key: "prompt",
		names: ["--prompt", "-p", "--command", "-c"],
		value: "TEXT",
		about:
			"The prompt; implies print mode. Not used with --wire, where the client sends the prompts. Under the name kimi-code, or with AGENTWIRE_CLI=kimi-code, -c is --continue.",
	},
	{
		key: "quiet",
		names: ["--quiet"],
		value: null,
		about: "Short for --print --output-format text --final-message-only.",
	},
	{
		key: "input-format",
		names: ["--input-format"],
		value: "FORMAT",
		offers: printFormats,
		about: "In print mode: 'text' (all of stdin is one prompt) or 'stream-json' (one JSON message per line).",
	},
	{
		key: "output-format",
		names: ["--output-format"],
		value: "FORMAT",
		offers: printFormats,
		about:
			"In print mode: 'text' for people, or 'stream-json', one JSON message per line, as kimi-cli (with --print) or kimi-code (with -p alone) writes it.",
	},
	{
		key: "print-format",
		names: ["--print-format"],
		value: "FORM",
		offers: textForms,
		about:
			"With --print, the text format: 'people', or 'repr', which kimi-cli bridges parse. Default: repr under the names kimi and kimi-cli.",
	},
	{
		key: "final-message-only",
		names: ["--final-message-only"],
		value: null,
		about: "In print mode: only the last message of each answer.",
	},
	{
		key: "work-dir",
		names: ["--work-dir", "-w"],
		value: "DIR",
		offers: "directories",
		about: "Work in this directory. Default: the current one.",
	},
	{
		key: "add-dir",
		names: ["--add-dir"],
		value: "DIR",
		offers: "directories",
		about: "Add a directory to the workspace; may be repeated.",
	},
	{
		key: "session",
		names: ["--session", "--resume", "-S", "-r"],
		value: "ID",
		valueIsOptional: true,
		about:
			"Open the session with this id, wherever it was created, or create it. On a terminal, without ID: choose from a list.",
	},
	{
		key: "continue",
		names: ["--continue", "-C"],
		value: null,
		about: "Open the last session of the work directory.",
	},
	{ key: "config", names: ["--config"], value: "TEXT", about: "Settings as JSON or TOML text." },
	{
		key: "config-file",
		names: ["--config-file"],
		value: "FILE",
		offers: "files",
		about: "Settings file, JSON if named .json, else TOML. Default: config.toml in the share directory.",
	},
	{
		key: "model",
		names: ["--model", "-m"],
		value: "ALIAS",
		about: "Model to use: a key of 'models' in the settings, or 'scripted', which needs no key.",
	},
	{ key: "thinking", names: ["--thinking"], value: null, about: "Turn thinking on, if the model supports it." },
	{ key: "no-thinking", names: ["--no-thinking"], value: null, about: "Turn thinking off." },
	{
		key: "agent",
		names: ["--agent"],
		value: "NAME",
		offers: builtInAgentNames,
		about: "Built-in agent: default, or okabe, which can send messages to its own past.",
	},
	{
		key: "agent-file",
		names: ["--agent-file"],
		value: "FILE",
		offers: "files",
		about: "Your own agent, from a YAML file.",
	},
	{
		key: "mcp-config-file",
		names: ["--mcp-config-file"],
		value: "FILE",
		offers: "files",
		about: "MCP servers from this JSON file instead of mcp.json in the share directory; may be repeated.",
	},
	{
		key: "mcp-config",
		names: ["--mcp-config"],
		value: "TEXT",
		about: "More MCP servers as JSON text; may be repeated.",
	},
	{
		key: "skills-dir",
		names: ["--skills-dir"],
		value: "DIR",
		offers: "directories",
		about: "Skills from this directory instead of the project's and your own; may be repeated.",
	},
	{
		key: "yolo",
		names: ["--yolo", "--yes", "-y", "--auto-approve"],
		value: null,
		about: "Approve every action without asking. Without it, print mode runs commands in a sandbox.",
	},
	{
		key: "take-over",
		names: ["--take-over"],
		value: null,
		about: "Take over a session that is running a turn in another process, and end that turn.",
	},
	{ key: "plan", names: ["--plan"], value: null, about: "Start in plan mode." },
	{ key: "afk", names: ["--afk"], value: null, about: "Work without a person at the keyboard." },
	{ key: "auto", names: ["--auto"], value: null, about: "The same, as kimi-code spells it." },
	{
		key: "max-steps-per-turn",
		names: ["--max-steps-per-turn"],
		value: "N",
		about: "Maximum steps per turn (at least 1). Overrides the settings.",
	},
	{
		key: "max-retries-per-step",
		names: ["--max-retries-per-step"],
		value: "N",
		about: "Maximum attempts per model call (at least 1). Overrides the settings.",
	},
	{
		key: "max-ralph-iterations",
		names: ["--max-ralph-iterations"],
		value: "N",
		about: "Repeat each prompt until the model says it is done, at most N times; -1 for no limit.",
	},
	{ key: "verbose", names: ["--verbose"], value: null, about: "Accepted for compatibility; --debug says more." },
	{ key: "debug", names: ["--debug"], value: null, about: "Write a more detailed log." },
	{ key: "version", names: ["--version", "-V", "-v"], value: null, about: "Show the version and exit." },
	{ key: "help", names: ["--help", "-h"], value: null, about: "Show this help and exit." },
];

const flagsByName: ReadonlyMap<string, Flag> = new Map(flags.flatMap((flag) => flag.names.map((name) => [name, flag])));

export function findFlag(name: string): Flag | null {
	return flagsByName.get(name) ?? null;
}

export function nearestFlagName(unknown: string): string | null {
	const names = flags.flatMap((flag) => flag.names).filter((name) => name.startsWith("--"));
	return nearestOf(unknown, names, (name) => (name.length - 2) / 2);
}

/** Returns the name closest to an unknown name; null if none is close. `most` is the maximum edit distance, at most 3. */
export function nearestOf(
	unknown: string,
	names: readonly string[],
	most: (name: string) => number = ({ length }) => length / 2,
): string | null {
	const near = names
		.map((name) => ({ name, distance: editDistance(unknown, name) }))
		.filter(({ name, distance }) => distance <= 3 && distance <= most(name))
		.sort((a, b) => a.distance - b.distance);
	return near[0]?.name ?? null;
}

function editDistance(from: string, to: string): number {
	let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
	for (let row = 1; row <= from.length; row += 1) {
		const current = [row];
		for (let column = 1; column <= to.length; column += 1) {
			const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
			current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
		}
		previous = current;
	}
	return previous[to.length] ?? 0;
}
