// Programs that run other programs named in their words: what they run, as words or as a script.

import { readOptions } from "../programs/options.ts";
import { nameOf } from "../programs/program-name.ts";
import { type WrapperOptions, wrapperTable } from "../programs/wrapper-table.ts";
import type { Assignment, SimpleCommand, Word } from "../script.ts";
import { readEnvironment } from "./environment-wrapper.ts";
import { unwrapGit } from "./git-runs.ts";
import { unwrapOptionScripts } from "./option-scripts.ts";
import {
	doubtOfOptions,
	doubtOfSuffixes,
	nothing,
	runOf,
	scriptOf,
	suffixes,
	type Unwrapped,
	unwrapLoose,
} from "./run.ts";
import { unwrapRemote, unwrapRunner } from "./runners.ts";
import { isScript, unwrapFind, unwrapXargs } from "./search-wrappers.ts";
import {
	unwrapCapabilityShell,
	unwrapEval,
	unwrapFile,
	unwrapFlock,
	unwrapForeignShell,
	unwrapGroup,
	unwrapShell,
	unwrapTrap,
	unwrapTypescript,
	unwrapUser,
	unwrapWatch,
} from "./shell-wrappers.ts";

/** The commands that a command runs; empty for other programs. `isOneOfAll`: every suffix of its words is checked anyway. */
export function unwrap(command: SimpleCommand, isOneOfAll: boolean, input: SimpleCommand | null): Unwrapped {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal") return nothing;
	const path = program.text;
	const name = nameOf(path);
	// Another program may have the same name as a wrapper.
	const isTrusted = [name, `/bin/${name}`, `/usr/bin/${name}`].includes(path);
	const unwrapped = isLoose(name)
		? both(unwrapLoose(words, isOneOfAll), givesScript.has(name) ? unwrapScripts(words) : nothing)
		: (unwrapRunner(name, words, isOneOfAll) ?? unwrapProgram(name, words, input));
	return isTrusted ? unwrapped : { ...unwrapped, isTransparent: false };
}

type Unwrap = (words: readonly Word[], name: string, input: SimpleCommand | null) => Unwrapped;

const unwrappers: ReadonlyMap<string, Unwrap> = new Map(
	Object.entries<Unwrap>({
		env: unwrapEnvironment,
		eval: unwrapEval,
		trap: unwrapTrap,
		"sh bash zsh dash ksh ash rbash mksh lksh rksh posh yash osh": unwrapShell,
		"csh tcsh fish nu pwsh powershell xonsh elvish": unwrapForeignShell,
		". source": unwrapFile,
		capsh: unwrapCapabilityShell,
		"sg newgrp": unwrapGroup,
		"ssh mosh": unwrapRemote,
		git: unwrapGit,
		"su runuser": unwrapUser,
		xargs: (words, _, input) => unwrapXargs(words, input),
		"find fd fdfind": unwrapFind,
		watch: unwrapWatch,
		flock: unwrapFlock,
		script: unwrapTypescript,
		gdb: (words, name) => both(unwrapDebugger(words), unwrapOptionScripts(words, name)),
		"parallel sem": unwrapParallel,
	}).flatMap(([names, unwrapOne]) => names.split(" ").map((name) => [name, unwrapOne])),
);

function unwrapProgram(name: string, words: readonly Word[], input: SimpleCommand | null): Unwrapped {
	const options = wrapperTable.get(name);
	if (options !== undefined) return unwrapByTable(words, options);
	return (unwrappers.get(name) ?? unwrapOptionScripts)(words, name, input);
}

function both(one: Unwrapped, other: Unwrapped): Unwrapped {
	return { runs: [...one.runs, ...other.runs], doubts: [...one.doubts, ...other.doubts], isTransparent: false };
}

/** Reads each word with blanks as a shell script. */
function unwrapScripts(words: readonly Word[]): Unwrapped {
	return { ...nothing, runs: words.flatMap((word) => (isScript(word) ? [scriptOf(word.text)] : [])) };
}

/** The loose wrappers that pass one word to a shell. */
const givesScript = new Set("tmux sops consul bws envconsul watchexec reflex xterm urxvt konsole".split(" "));

/** Wrappers with unknown options: they run some suffix of their words. */
const looseWrappers = new Set(
	(
		"taskset chrt numactl prlimit choom unbuffer eatmydata fakeroot setpriv gosu su-exec setarch linux32 linux64 " +
		"i386 x86_64 daemon daemonize rlwrap xvfb-run dbus-run-session dbus-launch caffeinate torsocks torify proxychains " +
		"proxychains4 noglob nocorrect firejail bwrap proot entr ld.so cgexec runcon uclampset tini dumb-init faketime arch start-stop-daemon catchsegv valgrind " +
		"ltrace perf rr direnv mise asdf chronic ifne trickle watchexec cross-env dotenv op ssh-agent " +
		"screen tmux xterm gnome-terminal konsole aws-vault reflex retry lxc-attach machinectl systemd-nspawn wsl flatpak-spawn guix " +
		"strace aa-exec cpulimit chpst softlimit setuidgid s6-setuidgid envdir catatonit fakechroot logsave run0 systemd-inhibit " +
		"coresched pipesz enosys tsocks sshpass heaptrack uftrace env-cmd kitty foot alacritty urxvt x-terminal-emulator cage " +
		"sandbox-exec xcrun sops summon dotenvx envchain berglas bws envconsul consul etcdctl with-contenv execlineb"
	).split(" "),
);

/** The dynamic loader has the architecture in its name. */
const loader = /^ld(?:-[\w.-]+)?\.so(?:\.\d+)?$/;

function isLoose(name: string): boolean {
	return looseWrappers.has(name) || loader.test(name);
}

function unwrapByTable(words: readonly Word[], wrapper: WrapperOptions): Unwrapped {
	const read = readOptions(words, wrapper.table);
	const doubts = doubtOfOptions(read);
	const has = (names = "") => read.options.some(({ name }) => names.split(" ").includes(name));
	if (has(wrapper.endsWithout)) return { ...nothing, doubts };
	const skipped = read.rest.slice(0, wrapper.positionals ?? 0);
	// A dynamic word may expand to several words or none.
	for (const word of skipped) if (word.kind === "dynamic") doubts.push(`a word before the program is ${word.why}`);
	const assignments: Assignment[] = [];
	const program = read.rest.slice(skipped.length);
	const rest = wrapper.takesAssignments ? takeAssignments(program, assignments) : program;
	if (rest.length === 0) {
		if (wrapper.isShell) doubts.push("it starts a shell that reads commands from its input");
		return { ...nothing, doubts };
	}
	const { harmless, isInThisShell = false, moves } = wrapper;
	const directory = moves === "always" || has(moves) ? "open" : "same";
	const isTransparent = harmless !== undefined && read.options.every(({ name }) => harmless.split(" ").includes(name));
	return { runs: [runOf(rest, { assignments, directory, isInThisShell })], doubts, isTransparent };
}

/** Moves the leading assignments of `words` to `assignments`; returns the other words. */
function takeAssignments(words: readonly Word[], assignments: Assignment[]): readonly Word[] {
	let index = 0;
	for (; index < words.length; index += 1) {
		const word = words[index];
		const found = word === undefined ? null : /^([^=\s'"$`]+)=(.*)$/s.exec(word.text);
		if (word === undefined || found === null) break;
		const [, name = "", value = ""] = found;
		assignments.push({
			name,
			value: word.kind === "literal" ? { kind: "literal", text: value } : { ...word, text: value },
		});
	}
	return words.slice(index);
}

function unwrapEnvironment(words: readonly Word[]): Unwrapped {
	const { rest, doubts, moves } = readEnvironment(words);
	const assignments: Assignment[] = [];
	const left = takeAssignments(rest, assignments);
	if (left.length === 0) return { ...nothing, doubts };
	const run = runOf(left, { assignments, directory: moves ? "open" : "same" });
	return { runs: [run], doubts, isTransparent: doubts.length === 0 && !moves };
}

function unwrapDebugger(words: readonly Word[]): Unwrapped {
	const start = words.findIndex((word) => /^--?args$/.test(word.text));
	const rest = start < 0 ? [] : words.slice(start + 1);
	return rest.length === 0 ? nothing : { runs: [runOf(rest)], doubts: [], isTransparent: false };
}

/** It has many options, and passes its joined words to a shell. */
function unwrapParallel(words: readonly Word[]): Unwrapped {
	const end = words.findIndex((word) => /^:::/.test(word.text));
	const given = end < 0 ? words : words.slice(0, end);
	const doubts = ["what it runs is put together from its words and its input", ...doubtOfSuffixes(given)];
	return { runs: suffixes(given), doubts, isTransparent: false };
}
