// A broad rule such as `src/**` probably did not mean these files, so an allow rule must name them.
import path from "node:path";
import { foldName } from "../../ports/files/folded-name.ts";

export interface DecidingFile {
	/** The case-folded name that a rule must contain. */
	readonly name: string;
	/** The effect of the file, as a clause. */
	readonly does: string;
}

const git = "git takes its settings and hooks from there";
const editor = "editors run the tasks and settings in it";
const ours = "this program takes rules, agents and skills from there";
const assistant = "coding agents take their settings, hooks and commands from there";
const hooks = "git runs the hooks in it";
const shell = "shells run it when they start";
const packages = "it decides what the package manager runs";
const definition = "it tells agents what to do, and which tools they have";

const names: Readonly<Record<string, string>> = {
	".git": git,
	".hg": "hg takes its settings and hooks from there",
	".gitmodules": "git runs what it names for submodules",
	".gitconfig": git,
	".agentwire": ours,
	".kimi": ours,
	".agents": ours,
	".rkat": ours,
	".claude": assistant,
	".codex": assistant,
	".gemini": assistant,
	".cursor": assistant,
	".vscode": editor,
	".idea": editor,
	".zed": editor,
	".fleet": editor,
	".devcontainer": editor,
	".devcontainer.json": editor,
	".vimrc": editor,
	".nvimrc": editor,
	".exrc": editor,
	".nvim.lua": editor,
	".dir-locals.el": editor,
	".mcp.json": "it names tool servers that are started",
	".envrc": "direnv runs it",
	".husky": hooks,
	".githooks": hooks,
	".lefthook": hooks,
	"lefthook.yml": "git hooks run what it names",
	".lefthook.yml": "git hooks run what it names",
	".pre-commit-config.yaml": "git hooks run what it names",
	".huskyrc": hooks,
	".npmrc": packages,
	".yarnrc": packages,
	".yarnrc.yml": packages,
	".yarn": packages,
	".pnpmfile.cjs": packages,
	".pnpmfile.mjs": packages,
	"pip.conf": packages,
	".mise.toml": packages,
	"mise.toml": packages,
	".bashrc": shell,
	".bash_profile": shell,
	".bash_login": shell,
	".bash_logout": shell,
	".bash_aliases": shell,
	".profile": shell,
	".zshrc": shell,
	".zshenv": shell,
	".zprofile": shell,
	".zlogin": shell,
	".zlogout": shell,
	".inputrc": shell,
	".xprofile": shell,
	".xsessionrc": shell,
	".pam_environment": shell,
	".tmux.conf": "tmux runs it when it starts",
	".ssh": "it decides who may sign in, and what ssh runs",
	"skill.md": definition,
	"agent.yaml": definition,
	"agent.yml": definition,
};

/** Directories and the sensitive entries in them, matched as two consecutive names. */
const pairs: readonly (readonly [directory: string, name: string, does: string])[] = [
	[".cargo", "config.toml", "cargo runs what it names"],
	[".cargo", "config", "cargo runs what it names"],
	[".cargo", "bin", "it is on the PATH"],
	[".local", "bin", "it is on the PATH"],
	[".config", "fish", shell],
	[".config", "git", git],
	[".config", "autostart", "desktops run what is in it"],
	[".config", "systemd", "services are started from it"],
	[".config", "environment.d", shell],
];

/** The sensitive part of the path; null for an ordinary file. `roots` are absolute; names above them do not count. */
export function decidingFile(absolute: string, roots: readonly string[]): DecidingFile | null {
	const below = roots
		.map((root) => path.relative(root, absolute))
		.filter((relative) => relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
		.sort((one, other) => one.length - other.length)[0];
	const segments = (below ?? absolute)
		.split(path.sep)
		.filter((segment) => segment !== "")
		.map(foldName);
	for (const [index, name] of segments.entries()) {
		const does = Object.hasOwn(names, name) ? names[name] : undefined;
		if (does !== undefined) return { name, does };
		if (name.endsWith(".git") && index < segments.length - 1) return { name, does: git };
		const pair = pairs.find(([directory, inner]) => directory === name && inner === segments[index + 1]);
		if (pair !== undefined) return { name: pair[1], does: pair[2] };
	}
	return null;
}
