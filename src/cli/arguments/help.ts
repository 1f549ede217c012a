import { type CommandName, commands } from "./commands.ts";
import { withImpliedCommand } from "./executable-name.ts";
import { type Flag, type FlagKey, flags } from "./flags.ts";

const nameColumn = 30;
const width = 100;

function toLine({ names, value, about }: Pick<Flag, "names" | "value" | "about">): string {
	const left = `  ${names.join(", ")}${value === null ? "" : ` ${value}`}`;
	const text = wrap(about, width - nameColumn).join(`\n${" ".repeat(nameColumn)}`);
	return left.length < nameColumn - 1 ? left.padEnd(nameColumn) + text : `${left}\n${" ".repeat(nameColumn)}${text}`;
}

function wrap(text: string, most: number): readonly string[] {
	const lines: string[] = [];
	let line = "";
	for (const word of text.split(" ")) {
		if (line !== "" && line.length + 1 + word.length > most) {
			lines.push(line);
			line = word;
		} else line = line === "" ? word : `${line} ${word}`;
	}
	return [...lines, line];
}

const flagGroups: readonly { readonly title: string; readonly keys: readonly FlagKey[] }[] = [
	{
		title: "Run",
		keys: ["prompt", "model", "thinking", "no-thinking", "work-dir", "add-dir", "yolo", "plan", "afk", "auto"],
	},
	{ title: "Sessions", keys: ["continue", "session", "take-over"] },
	{ title: "Output", keys: ["print", "quiet", "input-format", "output-format", "print-format", "final-message-only"] },
	{
		title: "Settings",
		keys: ["config", "config-file", "agent", "agent-file", "mcp-config-file", "mcp-config", "skills-dir"],
	},
	{ title: "Limits", keys: ["max-steps-per-turn", "max-retries-per-step", "max-ralph-iterations"] },
	{
		title: "Serve a client",
		keys: [
			"wire",
			"ui",
			"acp",
			"acp-protocol",
			"contract",
			"realm",
			"isolated",
			"instance",
			"realm-backend",
			"state-root",
			"context-root",
			"user-config-root",
		],
	},
	{ title: "Other", keys: ["debug", "verbose", "version", "help"] },
];

const commandGroups: readonly { readonly title: string; readonly names: readonly CommandName[] }[] = [
	{ title: "Start", names: ["chat", "setup", "web", "login", "logout", "doctor", "info", "docs"] },
	{ title: "Manage", names: ["sessions", "export", "replay", "store", "mcp", "plugin", "permissions", "record"] },
	{ title: "Serve", names: ["serve", "rpc", "acp", "codex", "claude", "worker"] },
	{ title: "Test clients and servers", names: ["fake", "conformance"] },
];

export function helpText(executableName: string, command: CommandName | null): string {
	if (command !== null) return commandHelp(executableName, command);
	const grouped = flagGroups.flatMap(({ title, keys }) => [
		"",
		`${title}:`,
		...flags.filter(({ key }) => keys.includes(key)).map(toLine),
	]);
	return [
		`Usage: ${executableName} "PROMPT" [flags]`,
		`       ${executableName} [flags]            serve a client over stdin and stdout`,
		`       ${executableName} COMMAND [flags]`,
		"",
		"A coding agent for people, scripts, editors and your own programs.",
		"",
		"Examples:",
		`  ${executableName} "Why does the build fail?"`,
		`  git diff | ${executableName} --quiet > review.md`,
		`  ${executableName} --continue "Now fix it"`,
		`  ${executableName} --model scripted "Try it without a key"`,
		...commandGroups.flatMap(({ title, names }) => [
			"",
			`${title}:`,
			...names.map((name) => toLine({ names: [name], value: null, about: commands[name].about })),
		]),
		...grouped,
		"",
		`For one command: ${executableName} help COMMAND. Settings are in config.toml in $KIMI_SHARE_DIR or`,
		"$AGENTWIRE_HOME, by default ~/.kimi.",
		"",
	].join("\n");
}

function commandHelp(executableName: string, command: CommandName): string {
	const { forms, purpose, flags: ownFlags } = commands[command];
	const isImplied = withImpliedCommand(executableName, []).includes(command);
	const called = isImplied ? executableName : `${executableName} ${command}`;
	return [
		...forms.map(({ words }, index) => `${index === 0 ? "Usage:" : "      "} ${called} ${words}`),
		"",
		purpose,
		"",
		...forms.flatMap(({ words, about }) => (about === undefined ? [] : toLine({ names: [words], value: null, about }))),
		...ownFlags.map(toLine),
		toLine({ names: ["--help", "-h"], value: null, about: "Show this help and exit." }),
		"",
	].join("\n");
}

/** Printed when a person starts the program on a terminal without arguments. */
export function startText(name: string): string {
	return [
		`${name} "Fix the failing test"   answer one prompt here and exit`,
		`${name} web                      work on a page in the browser`,
		`${name} setup                    choose a model; '${name} --help' lists everything else`,
		"",
	].join("\n");
}
