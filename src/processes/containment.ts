// Containment with bubblewrap: builds the command line that runs a command in a process id namespace of its own.
// contained-group.ts runs it; the caller decides whether to use it.
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { hasInput } from "./child-group.ts";
import type { RunRequest } from "./port.ts";

/** A way to contain commands that is known to work. */
export interface Containment {
	/** The path of bwrap. */
	readonly bubblewrap: string;
}

function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}

function isDirectory(directory: string): boolean {
	try {
		accessSync(directory, constants.X_OK);
		return statSync(directory).isDirectory();
	} catch {
		return false;
	}
}

/** Finds a program by the rules of exec: a name with a slash is a path, any other is looked up. Null when absent. */
export function findProgram(name: string, searchPath: string | undefined, workDir: string): string | null {
	if (name.includes("\0") || name === "") return null;
	const directories = name.includes("/") ? [workDir] : (searchPath?.split(":") ?? []);
	return directories.map((directory) => path.resolve(workDir, directory, name)).find(isProgram) ?? null;
}

/** The path of bwrap. Only absolute directories count, so that a file in a work directory is never used. */
export function findBubblewrap(searchPath: string | undefined): string | null {
	return findProgram("bwrap", searchPath?.split(":").filter(path.isAbsolute).join(":"), "/");
}

/** Descriptors of the contained shell. */
export const statusDescriptor = 2;
export const inputDescriptor = 3;
export const outputDescriptor = 4;
export const errorsDescriptor = 5;
export const bubblewrapDescriptor = 6;
/** Stays open as long as the namespace may live. Not stdin: that is a socket, and a bash with one reads ~/.bashrc. */
export const lifelineDescriptor = 7;

/**
 * Runs the command (`$@` after `$1`) on the command's own descriptors, reports its end, and then holds the namespace
 * until it is released, so that remaining writers may finish. A shell distinguishes a signal from an exit code above
 * 128 only in the message it prints, and its stderr is the status pipe (the redirections are made in a subshell, so
 * that this holds while it waits). It survives the signals sent to the group; handlers, other than ignored signals, are
 * not inherited.
 */
const script = `
trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE
input=$1
shift
echo started >&2
if [ "$input" = input ]; then
	(exec "$@" <&3 >&4 2>&5 3<&- 4>&- 5>&- 6>&- 7<&-)
else
	(exec "$@" </dev/null >&4 2>&5 4>&- 5>&- 6>&- 7<&-)
fi
code=$?
exec 3<&- 4>&- 5>&-
set -- /proc/[0-9]*
echo "exit $code $#" >&2
read -r release <&7
`;

/** Many shells drop variables with names that they do not support, such as the functions that bash exports. */
function chooseShell(environment: RunRequest["environment"]): string {
	const isPlain = Object.keys(environment).every((name) => /^[A-Za-z_]\w*$/.test(name));
	return isPlain || !isProgram("/bin/bash") ? "/bin/sh" : "/bin/bash";
}

/** Processes of the namespace besides the command's: its init and the shell. */
export const ownProcesses = 2;

/**
 * The arguments for bwrap that run the program at `file` in a process id namespace, with everything else as outside.
 */
export function toBubblewrapArguments(file: string, request: RunRequest): string[] {
	return [
		...["--dev-bind", "/", "/"],
		...["--proc", "/proc"],
		"--unshare-pid",
		"--die-with-parent",
		// A group of its own, so that TERM reaches the command and not bwrap, which would end all at once.
		"--new-session",
		...["--json-status-fd", String(bubblewrapDescriptor)],
		"--",
		...[chooseShell(request.environment), "-c", script, "agentwire-contained"],
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
