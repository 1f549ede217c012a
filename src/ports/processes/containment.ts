// Builds the bwrap command line; the caller decides whether to use it.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { shellQuoted } from "../../base/text/quoting.ts";
import { hasInput } from "./child-group.ts";
import { listenerArguments } from "./confinement/confined-proxy.ts";
import type { ConfinedStart } from "./confinement/confinement.ts";
import { isWithin } from "./confinement/replaceable-links.ts";
import type { Confinement, RunRequest } from "./port.ts";
import { findProgram, isProgram } from "./search-path.ts";

export interface Containment {
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

/** The path of bwrap. Only absolute directories count, so files in a working directory are never used. */
export function findBubblewrap(searchPath: string | undefined): string | null {
	return findProgram("bwrap", searchPath?.split(":").filter(path.isAbsolute).join(":"), "/");
}

/** The path of a bwrap that confined commands cannot have written. */
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

export const statusDescriptor = 2;
export const inputDescriptor = 3;
export const outputDescriptor = 4;
export const errorsDescriptor = 5;
export const bubblewrapDescriptor = 6;
/** Open while the namespace may live. Not stdin, which is a socket: bash would then read ~/.bashrc. */
export const lifelineDescriptor = 7;
/** For confined commands: bwrap reads the system call filter from it and closes it. */
export const filterDescriptor = 8;
/** For confined commands with a proxy: the channel that passes us the listening socket. */
const channelDescriptor = 9;

/**
 * Runs `$@` after `$1`, reports its end, and holds the namespace until released. Only a shell's message tells signals
 * from exit codes; handlers, unlike ignored signals, are not inherited.
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

/** Runs the Node at $1 with $2 and $3, and closes the channel for the command. */
const proxyScript = `
("$1" "$2" "$3" </dev/null >&2) || exit 1
shift 3
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
exec ${channelDescriptor}>&-
`;

/** Many shells drop variables with unsupported names and cannot close descriptors above 9. */
function chooseShell(environment: RunRequest["environment"], confined: ConfinedStart | null): string {
	const isPlain = Object.keys(environment).every((name) => /^[A-Za-z_]\w*$/.test(name));
	const closesFew = confined === null || confined.inherited.every((descriptor) => descriptor <= 9);
	return (isPlain && closesFew) || !isProgram("/bin/bash") ? "/bin/sh" : "/bin/bash";
}

/** Variables that load code at program start: only the command gets these, not bwrap and its helpers. */
const loadingVariable = /^(?:LD_[A-Z_\d]+|GCONV_PATH|LOCPATH|BASH_ENV|NODE_OPTIONS)$/;

/** Variables for the command only, and variables for its helpers too. */
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

/** Shell code that exports the withheld variables to the command. */
function exportLoading(environment: RunRequest["environment"]): string {
	return Object.entries(splitEnvironment(environment).loading)
		.map(([name, value]) => `export ${name}=${shellQuoted(value)}; `)
		.join("");
}

/** Runs before a confined command: waits until its mounts were checked from outside. */
const mountedScript = `
echo mounted >&2
read -r go <&${lifelineDescriptor} || exit 1
`;

/** Closes inherited descriptors: an open directory would lead out of the sandbox. */
function closeInherited({ inherited }: ConfinedStart): string {
	return inherited.map((descriptor) => `exec ${descriptor}>&-\n`).join("");
}

/** Namespace processes besides the command's: init and the shell. */
export const ownProcesses = 2;

/** Runs the program otherwise unchanged, or as prepared for a confined command. */
export function toBubblewrapArguments(file: string, request: RunRequest, confined: ConfinedStart | null): string[] {
	const preparation = confined === null ? "" : closeInherited(confined) + mountedScript;
	const script = toScript(exportLoading(request.environment));
	const hasProxy = confined !== null && request.confinement?.network.kind === "proxy";
	return [
		...(confined === null
			? ["--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid"]
			: [...confined.arguments, "--chdir", request.workDir]),
		"--die-with-parent",
		// A separate group, so that TERM reaches the command but not bwrap, which would end everything.
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

/** The program to contain; null when it cannot start, so that an uncontained start reports the error. */
export function findContainable(request: RunRequest): string | null {
	if (request.arguments.some((argument) => argument.includes("\0")) || !isDirectory(request.workDir)) return null;
	return findProgram(request.file, request.environment["PATH"], request.workDir);
}
