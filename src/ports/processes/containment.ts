// Containment with bubblewrap: builds the command line that runs a command in a process id namespace of its own.
// contained-group.ts runs it; the caller decides whether to use it.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { shellQuoted } from "../../base/text/quoting.ts";
import { hasInput } from "./child-group.ts";
import { listenerArguments } from "./confinement/confined-proxy.ts";
import type { ConfinedStart } from "./confinement/confinement.ts";
import { isWithin } from "./confinement/replaceable-links.ts";
import type { Confinement, RunRequest } from "./port.ts";
import { findProgram, isProgram } from "./search-path.ts";

/** A way to contain commands that is known to work. */
export interface Containment {
	/** The path of bwrap. */
	readonly bubblewrap: string;
}

function isDirectory(directory: string): boolean {
	try {
		accessSync(directory, constants.X_OK);
		return statSync(directory).isDirectory();
	} catch {
		return false;
	}
}

/** The path of bwrap. Only absolute directories count, so that a file in a work directory is never used. */
export function findBubblewrap(searchPath: string | undefined): string | null {
	return findProgram("bwrap", searchPath?.split(":").filter(path.isAbsolute).join(":"), "/");
}

/**
 * The path of a bwrap that no confined command can have put there: not in a directory that such commands write to.
 */
export function findTrustedBubblewrap(searchPath: string | undefined, { writable }: Confinement): string | null {
	const roots = writable.map((directory) => {
		try {
			return realpathSync(directory);
		} catch {
			return path.resolve(directory);
		}
	});
	const directories = ["/usr/bin", "/bin", ...(searchPath?.split(":") ?? [])].filter(path.isAbsolute);
	for (const directory of directories) {
		const file = findProgram("bwrap", directory, "/");
		if (file === null) continue;
		const target = realpathSync(file);
		if (!roots.some((root) => isWithin(file, root) || isWithin(target, root))) return file;
	}
	return null;
}

/** Descriptors of the contained shell. */
export const statusDescriptor = 2;
export const inputDescriptor = 3;
export const outputDescriptor = 4;
export const errorsDescriptor = 5;
export const bubblewrapDescriptor = 6;
/** Stays open as long as the namespace may live. Not stdin: that is a socket, and a bash with one reads ~/.bashrc. */
export const lifelineDescriptor = 7;
/** Of a confined command: bwrap reads the filter of system calls from it and closes it. */
export const filterDescriptor = 8;
/** Of a confined command with a proxy: the channel over which its listening socket is passed to us. */
const channelDescriptor = 9;

/**
 * Runs the command (`$@` after `$1`) on the command's own descriptors, reports its end, and then holds the namespace
 * until it is released, so that remaining writers may finish. A shell distinguishes a signal from an exit code above
 * 128 only in the message it prints, and its stderr is the status pipe (the redirections are made in a subshell, so
 * that this holds while it waits). It survives the signals sent to the group; handlers, other than ignored signals, are
 * not inherited. `preparation` is for the command alone.
 */
const toScript = (preparation: string): string => `
trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE
input=$1
shift
echo started >&2
if [ "$input" = input ]; then
	(${preparation}exec "$@" <&3 >&4 2>&5 3<&- 4>&- 5>&- 6>&- 7<&-)
else
	(${preparation}exec "$@" </dev/null >&4 2>&5 4>&- 5>&- 6>&- 7<&-)
fi
code=$?
exec 3<&- 4>&- 5>&-
set -- /proc/[0-9]*
echo "exit $code $#" >&2
read -r release <&7
`;

/**
 * Comes before the script when the command reaches a proxy: runs the Node at $1 with $2 and $3, and takes the
 * channel from the command. What Node prints about a failure is the reason why the command did not start.
 */
const proxyScript = `
("$1" "$2" "$3" </dev/null >&2) || exit 1
shift 3
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
exec ${channelDescriptor}>&-
`;

/**
 * Many shells drop variables with names that they do not support, such as the functions that bash exports, and cannot
 * close descriptors above 9.
 */
function chooseShell(environment: RunRequest["environment"], confined: ConfinedStart | null): string {
	const isPlain = Object.keys(environment).every((name) => /^[A-Za-z_]\w*$/.test(name));
	const closesFew = confined === null || confined.inherited.every((descriptor) => descriptor <= 9);
	return (isPlain && closesFew) || !isProgram("/bin/bash") ? "/bin/sh" : "/bin/bash";
}

/**
 * Variables that make a program load code before it does anything itself. bwrap is not confined, and what runs inside
 * before the command has our descriptors. An empty part of `LD_LIBRARY_PATH`, as after
 * `export LD_LIBRARY_PATH=/lib:$LD_LIBRARY_PATH`, stands for the current directory, where commands may write. So only
 * the command itself gets these.
 */
const loadingVariable = /^(?:LD_[A-Z_\d]+|GCONV_PATH|LOCPATH|BASH_ENV|NODE_OPTIONS)$/;

/** The variables of a command that only it gets, and those that what prepares it gets as well. */
export function splitEnvironment(environment: Readonly<Record<string, string>>): {
	readonly loading: Record<string, string>;
	readonly others: Record<string, string>;
} {
	const entries = Object.entries(environment);
	return {
		loading: Object.fromEntries(entries.filter(([name]) => loadingVariable.test(name))),
		others: Object.fromEntries(entries.filter(([name]) => !loadingVariable.test(name))),
	};
}

/** Gives the command what bwrap did not get, in the language of the shell. */
function exportLoading(environment: RunRequest["environment"]): string {
	return Object.entries(splitEnvironment(environment).loading)
		.map(([name, value]) => `export ${name}=${shellQuoted(value)}; `)
		.join("");
}

/** Before the command of a confined start: waits until what was mounted has been looked at from outside. */
const mountedScript = `
echo mounted >&2
read -r go <&${lifelineDescriptor} || exit 1
`;

/** Closes what this process was itself given at its start: an open directory would lead out of the sandbox. */
function closeInherited({ inherited }: ConfinedStart): string {
	return inherited.map((descriptor) => `exec ${descriptor}>&-\n`).join("");
}

/** Processes of the namespace besides the command's: its init and the shell. */
export const ownProcesses = 2;

/**
 * The arguments for bwrap that run the program at `file` in a process id namespace, with everything else as outside or,
 * for a confined command, as prepared.
 */
export function toBubblewrapArguments(file: string, request: RunRequest, confined: ConfinedStart | null): string[] {
	const preparation = confined === null ? "" : closeInherited(confined) + mountedScript;
	const script = toScript(exportLoading(request.environment));
	const hasProxy = confined !== null && request.confinement?.network.kind === "proxy";
	return [
		...(confined === null
			? ["--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid"]
			: [...confined.arguments, "--chdir", request.workDir]),
		"--die-with-parent",
		// A group of its own, so that TERM reaches the command and not bwrap, which would end all at once.
		"--new-session",
		...["--json-status-fd", String(bubblewrapDescriptor)],
		"--",
		...[chooseShell(request.environment, confined), "-c"],
		...[preparation + (hasProxy ? proxyScript : "") + script, "agentwire-contained"],
		...(hasProxy ? [process.execPath, ...listenerArguments] : []),
		hasInput(request) ? "input" : "no-input",
		file,
		...request.arguments,
	];
}

/** The program to contain; null when it could not be started: starting it uncontained then reports the error. */
export function findContainable(request: RunRequest): string | null {
	if (request.arguments.some((argument) => argument.includes("\0")) || !isDirectory(request.workDir)) return null;
	return findProgram(request.file, request.environment["PATH"], request.workDir);
}
