// The completion scripts in the shells that they are for. A shell that is not installed is skipped by name.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, type Stage } from "../support/executable/executable.ts";

type ShellName = "bash" | "zsh" | "fish";

/** What runs after the script to complete the last of the words; `words` are quoted. */
const drivers: Readonly<Record<ShellName, (words: readonly string[], line: string) => string>> = {
	bash: (words) =>
		`COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _agentwire_completion; printf '%s\\n' "\${COMPREPLY[@]}"`,
	// The widgets of zsh, which need a terminal, are stood in for by functions that print what they are given.
	zsh: (words) => `words=(${words.join(" ")}); CURRENT=${words.length}; _agentwire`,
	fish: (_words, line) => `complete -C ${quote(line)}`,
};

const widgets = `
compdef() { : }
matching() { local each; for each; do [[ $each == "\${\${words[CURRENT]}#--*=}"* ]] && print -r -- "$each"; done; return 0 }
_describe() { matching "\${(@)\${(P@)@[-1]}%%:*}" }
compadd() { shift; matching "$@" }
_files() { if [[ $1 == -/ ]]; then matching *(N/); else matching *(N); fi }
compset() { return 0 }
`;

const quote = (text: string) => `'${text}'`;

function isInstalled(shell: ShellName): boolean {
	try {
		execFileSync(shell, ["--version"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

/** Puts the script for the shell into a file, and gives its path. */
async function writeScript(stage: Stage, shell: ShellName): Promise<string> {
	const { code, stdout, stderr } = await runExecutable(executablePath, ["info", "--show-completion", shell], {
		cwd: stage.workDir,
		env: stage.environment,
	});
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	const file = path.join(stage.shareDir, `completion.${shell}`);
	writeFileSync(file, stdout);
	return file;
}

/** What the shell offers for the end of the line, sorted. */
async function complete(stage: Stage, shell: ShellName, file: string, line: string): Promise<string[]> {
	// As bash splits words, `=` is one.
	const words = line.split(shell === "bash" ? / |(?<==)|(?==)/ : " ").map(quote);
	const script = `${shell === "zsh" ? widgets : ""}\nsource ${quote(file)}\n${drivers[shell](words, line)}`;
	const flags = { bash: ["--norc", "-c"], zsh: ["-f", "-c"], fish: ["--no-config", "-c"] }[shell];
	const env = { ...process.env, HOME: stage.shareDir };
	const ran = await runExecutable(shell, [...flags, script], { cwd: stage.workDir, env });
	expect(ran.stderr).toBe("");
	return ran.stdout
		.split("\n")
		.map((each) => (each.split("\t")[0] ?? "").replace(/^--[a-z-]+=/, "").replace(/\/$/, ""))
		.filter((each) => each !== "")
		.sort();
}

const cases: readonly (readonly [line: string, offered: readonly string[]])[] = [
	[
		"agentwire ",
		[
			"acp",
			"chat",
			"claude",
			"codex",
			"conformance",
			"docs",
			"doctor",
			"export",
			"fake",
			"info",
			"login",
			"logout",
			"mcp",
			"permissions",
			"plugin",
			"record",
			"replay",
			"rpc",
			"serve",
			"sessions",
			"setup",
			"store",
			"web",
			"worker",
		],
	],
	["agentwire m", ["mcp"]],
	["agentwire --ou", ["--output-format"]],
	["agentwire --output-format ", ["stream-json", "text"]],
	["agentwire --output-format=s", ["stream-json"]],
	["agentwire --agent ", ["default", "okabe"]],
	["agentwire --prompt ", []],
	["agentwire --prompt mcp --out", ["--output-format"]],
	["agentwire --work-dir ", ["folder"]],
	["agentwire -w folder mc", ["mcp"]],
	["agentwire --config-file n", ["notes.txt"]],
	["agentwire -S --pl", ["--plan"]],
	["agentwire --acp", ["--acp", "--acp-protocol"]],
	["agentwire mcp ", ["add", "auth", "list", "remove", "reset-auth", "test"]],
	["agentwire mcp add --tr", ["--transport"]],
	["agentwire mcp add --transport ", ["http", "stdio"]],
	["agentwire mcp add x --transport http --au", ["--auth"]],
	["agentwire mcp add x -- --tr", []],
	["agentwire mcp list --tr", []],
	["agentwire plugin ", ["info", "install", "list", "remove"]],
	["agentwire plugin install n", ["notes.txt"]],
	["agentwire info --show-completion ", ["bash", "fish", "zsh"]],
	["agentwire export --o", ["--output"]],
	["agentwire rpc --mo", ["--model"]],
	["agentwire rpc --wi", []],
];

describe.each<[ShellName]>([["bash"], ["zsh"], ["fish"]])("%s", (shell) => {
	it.runIf(isInstalled(shell))("completes what the tables of flags and commands have", async () => {
		const stage = createStage();
		mkdirSync(path.join(stage.workDir, "folder"));
		writeFileSync(path.join(stage.workDir, "notes.txt"), "");
		const file = await writeScript(stage, shell);
		const found = await Promise.all(cases.map(async ([line]) => [line, await complete(stage, shell, file, line)]));
		expect(found).toEqual(cases);
	});
});

it("of a person without one of these shells is refused with the shells that there are", async () => {
	const stage = createStage();
	const options = { cwd: stage.workDir, env: { ...stage.environment, SHELL: "/bin/csh" } };
	expect(await runExecutable(executablePath, ["info", "--show-completion"], options)).toEqual({
		code: 2,
		stdout: "",
		stderr: `Error: --show-completion needs the name of a shell, one of bash, zsh, fish: $SHELL is "/bin/csh".\nTry 'agentwire info --help' for help.\n`,
	});
});
