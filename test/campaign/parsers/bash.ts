// The real bash, which parses a script without running it and prints it in a form of its own.
import { spawn } from "node:child_process";
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

export interface Bash {
	/** The script as bash prints it; null when it refuses a part of it. */
	print(script: string): Promise<string | null>;
	close(): void;
}

/**
 * Runs the parser for each line that it reads, and answers whether it took the script. A small process forks many
 * times faster than one of Node.
 */
const server = `while read -r; do
	if ( ulimit -t 5; exec /bin/bash --pretty-print "$1" ) </dev/null >"$1.printed" 2>/dev/null
	then echo taken; else echo refused; fi
done`;

/**
 * Bash prints what it would not take for the same: a name of a coprocess that was not written, and the pattern `(esac)` without
 * the parenthesis that makes it one. A pipe after the end of a `case` has words with blanks between them.
 */
function repair(printed: string): string {
	return printed.replaceAll(/\bcoproc COPROC /g, "coproc ").replaceAll(/^(\s*)(esac(?: \| [^\s;&]+)*\))$/gm, "$1($2");
}

export function createBash(): Bash {
	const folder = mkdtempSync(path.join(tmpdir(), "agentwire-parsers-"));
	const file = path.join(folder, "script.sh");
	// To create it anew for each script takes longer than to parse it.
	const descriptor = openSync(file, "w");
	const child = spawn("/bin/bash", ["-c", server, "parsers", file], {
		stdio: ["pipe", "pipe", "ignore"],
		env: { PATH: "/nowhere", LC_ALL: "C.UTF-8" },
	});
	const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const printNow = async (script: string): Promise<string | null> => {
		ftruncateSync(descriptor, writeSync(descriptor, script, 0));
		child.stdin.write("\n");
		const { value, done } = await answers.next();
		if (done === true) throw new Error("The shell that parses scripts has ended.");
		if (value !== "taken") return null;
		return repair(readFileSync(`${file}.printed`, "utf8"));
	};
	let last: Promise<string | null> = Promise.resolve(null);
	return {
		print: (script) => (last = last.then(() => printNow(script))),
		close() {
			child.stdin.end();
			closeSync(descriptor);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}
