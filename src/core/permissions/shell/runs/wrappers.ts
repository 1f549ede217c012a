import { readOptions } from "../programs/options.ts";
import { nameOf } from "../programs/program-name.ts";
import { readForm } from "../programs/read-form.ts";
import { type WrapperOptions, wrapperTable } from "../programs/wrapper-table.ts";
import type { Assignment, SimpleCommand, Word } from "../script.ts";
import { readEnvironment } from "./environment-wrapper.ts";
import { unwrapGit } from "./git-runs.ts";
import { unwrapOptionScripts } from "./option-scripts.ts";
import { doubtOfOptions, nothing, runOf, type Unwrapped, unwrapLoose } from "./run.ts";
import { unwrapRunner } from "./runners.ts";
import { unwrapFind, unwrapXargs } from "./search-wrappers.ts";
import { unwrapEval, unwrapFile, unwrapShell, unwrapTrap } from "./shell-wrappers.ts";

/** The commands that a command runs; empty for other programs. `isOneOfAll`: every suffix of its words is checked anyway. */
export function unwrap(command: SimpleCommand, isOneOfAll: boolean, input: SimpleCommand | null): Unwrapped {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal") return nothing;
	const path = program.text;
	const name = nameOf(path);
	// Another program may have the same name as a wrapper.
	const isTrusted = [name, `/bin/${name}`, `/usr/bin/${name}`].includes(path);
	const unwrapped =
		unwrapRunner(name, command, isOneOfAll) ??
		(isLoose(name, command) ? unwrapLoose(command, isOneOfAll) : unwrapProgram(name, words, input));
	return isTrusted ? unwrapped : { ...unwrapped, isTransparent: false };
}

type Unwrap = (words: readonly Word[], name: string, input: SimpleCommand | null) => Unwrapped;

const unwrappers: ReadonlyMap<string, Unwrap> = new Map(
	Object.entries<Unwrap>({
		env: unwrapEnvironment,
		eval: unwrapEval,
		trap: unwrapTrap,
		"sh bash zsh dash ksh ash rbash mksh lksh rksh posh yash osh": unwrapShell,
		". source": unwrapFile,
		git: unwrapGit,
		xargs: (words, _, input) => unwrapXargs(words, input),
		"find fd fdfind": unwrapFind,
	}).flatMap(([names, unwrapOne]) => names.split(" ").map((name) => [name, unwrapOne])),
);

function unwrapProgram(name: string, words: readonly Word[], input: SimpleCommand | null): Unwrapped {
	const options = wrapperTable.get(name);
	if (options !== undefined) return unwrapByTable(words, options);
	return (unwrappers.get(name) ?? unwrapOptionScripts)(words, name, input);
}

/** Wrappers with unknown options: they run some suffix of their words, or pass a word to a shell. */
const looseWrappers = new Set(
	(
		"sudo doas pkexec su runuser sg newgrp chroot unshare nsenter busybox toybox setsid systemd-run watch flock script capsh parallel sem gdb " +
		"ssh mosh docker docker-compose podman podman-compose nerdctl kubectl oc k3s microk8s minikube lxc incus multipass distrobox toolbox " +
		"apptainer singularity flatpak nix devbox conda mamba micromamba pipx lerna nx npm pnpm yarn bun uv ip cmake rbenv pyenv opam stack cabal " +
		"dune nvm fnm chamber volta doppler infisical foreman honcho teller csh tcsh fish nu pwsh powershell xonsh elvish " +
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

function isLoose(name: string, command: SimpleCommand): boolean {
	if (!looseWrappers.has(name)) return loader.test(name);
	const { names, form, doubt } = readForm(command);
	return form === null || (names.length === 1 && form.verbs === undefined && doubt !== null);
}

function unwrapByTable(words: readonly Word[], wrapper: WrapperOptions): Unwrapped {
	const read = readOptions(words, wrapper.table);
	const doubts = doubtOfOptions(read);
	const has = (names = "") => read.options.some(({ name }) => names.split(" ").includes(name));
	if (has(wrapper.endsWithout)) return { ...nothing, doubts };
	const skipped = read.rest.slice(0, wrapper.positionals ?? 0);
	// A dynamic word may expand to several words or none.
	for (const word of skipped) if (word.kind === "dynamic") doubts.push(`a word before the program is ${word.why}`);
	const rest = read.rest.slice(skipped.length);
	if (rest.length === 0) return { ...nothing, doubts };
	const { harmless, isInThisShell = false } = wrapper;
	const isTransparent = read.options.every(({ name }) => harmless.split(" ").includes(name));
	return { runs: [runOf(rest, { isInThisShell })], doubts, isTransparent };
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
