// Runs scripts for real and says which programs they ran: within bubblewrap, without a network, with nothing writable but
// memory, and with stub programs that do nothing but log their arguments.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findBubblewrap } from "../../../src/ports/processes/containment.ts";
import { stubs } from "./stubs.ts";

export interface Execution {
	/** The program, as the last part of its path, and its arguments. */
	readonly words: readonly string[];
	/** The directory it ran in. */
	readonly cwd: string;
}

/** What a script did. */
export interface Run {
	readonly executions: readonly Execution[];
	/** The files that it left, absolute. */
	readonly files: readonly string[];
}

export interface Runner {
	/** Runs each script in an empty directory `/work`, but for the folder `a/b`. */
	run(scripts: readonly string[]): Promise<readonly Run[]>;
	close(): void;
}

/** Programs that really do what they do, after they are logged. */
const shims = [
	"awk",
	"bash",
	"cat",
	"chmod",
	"dash",
	"env",
	"find",
	"flock",
	"ionice",
	"nice",
	"nohup",
	"sed",
	"setsid",
	"sh",
	"sort",
	"split",
	"stdbuf",
	"tar",
	"tee",
	"timeout",
	"xargs",
] as const;

/** Milliseconds that a script may take beyond its own limit of seconds. */
const scriptPatience = 3000;
const startPatience = 20_000;

const log = `printf '%s\\0' "+$#" "$PWD" "\${0##*/}" "$@" >> /log/log`;

/**
 * Runs each script by itself. Nothing of one may be there when the next begins: what it left running gets a moment to
 * end, and is then killed, which within the namespace spares this shell and its parent.
 */
const driver = `
shopt -s globstar dotglob nullglob
set -- /proc/[0-9]*
base=$#
for ((number = 0; number < $COUNT; number++)); do
	/real/mkdir -p /work/a/b
	read -rd '' script < "/scripts/$number"
	printf '=%s\\0' "$number" >> /log/log
	(cd /work && exec /real/timeout -s KILL 2 /real/env -i PATH=/usr/bin HOME=/work LC_ALL=C.UTF-8 FUNCNEST=30 /real/bash -c "$script" < /dev/null > /dev/null 2>&1)
	for ((tries = 0; tries < 15; tries++)); do
		set -- /proc/[0-9]*
		(($# <= base)) && break
		/real/sleep 0.01
	done
	(($# > base)) && kill -KILL -1
	for file in /work/** /tmp/**; do
		[[ -f $file ]] && printf '!%s\\0' "$file" >> /log/log
	done
	/real/rm -rf /work/* /tmp/*
done
exit 0
`;

/** Null where bubblewrap does not work or a shell is missing. */
export function createRunner(): Runner | null {
	const bubblewrap = findBubblewrap(process.env["PATH"]);
	if (bubblewrap === null || !["bash", "dash", "env", "timeout"].every((name) => existsSync(`/usr/bin/${name}`)))
		return null;
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-oracle-"));
	const folder = (name: string): string => {
		const made = path.join(root, name);
		mkdirSync(made);
		return made;
	};
	const programs = folder("programs");
	const write = (name: string, text: string): void => {
		const file = path.join(programs, name);
		writeFileSync(file, text);
		chmodSync(file, 0o755);
	};
	for (const name of stubs) write(name, `#!/real/dash\n${log}\n`);
	for (const name of shims)
		if (existsSync(`/usr/bin/${name}`)) write(name, `#!/real/dash\n${log}\nexec /real/${name} "$@"\n`);
	// Nobody to ask for a password: it runs what it is given.
	write("sudo", `#!/real/dash\n${log}\nexec /real/env "$@"\n`);
	writeFileSync(path.join(root, "driver.sh"), driver);
	let batch = 0;
	const run = async (scripts: readonly string[]): Promise<readonly Run[]> => {
		batch += 1;
		const texts = folder(`scripts-${batch}`);
		const logs = folder(`log-${batch}`);
		for (const [number, script] of scripts.entries()) writeFileSync(path.join(texts, String(number)), `${script}\0`);
		const words = bubblewrapWords(programs, texts, logs, path.join(root, "driver.sh"), scripts.length);
		const child = spawn(bubblewrap, words, { stdio: "ignore" });
		const timer = setTimeout(() => child.kill("SIGKILL"), startPatience + scripts.length * scriptPatience);
		const status = await new Promise<number | null>((resolve) => {
			child.on("error", () => resolve(null));
			child.on("close", resolve);
		});
		clearTimeout(timer);
		const file = path.join(logs, "log");
		const tokens = existsSync(file) ? readFileSync(file, "utf8").split("\0") : [];
		rmSync(texts, { recursive: true, force: true });
		rmSync(logs, { recursive: true, force: true });
		if (status !== 0) throw new Error(`bwrap ended with ${status}`);
		return readLog(tokens, scripts.length);
	};
	return { run, close: () => rmSync(root, { recursive: true, force: true }) };
}

function bubblewrapWords(programs: string, texts: string, logs: string, file: string, count: number): string[] {
	return [
		...["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
		...["--ro-bind", "/usr/lib", "/usr/lib", "--ro-bind-try", "/usr/lib64", "/usr/lib64"],
		...[
			"--ro-bind-try",
			"/lib",
			"/lib",
			"--ro-bind-try",
			"/lib64",
			"/lib64",
			"--ro-bind-try",
			"/etc/passwd",
			"/etc/passwd",
		],
		...["--ro-bind-try", "/usr/libexec", "/usr/libexec", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
		...["--ro-bind", "/usr/bin", "/real", "--ro-bind", programs, "/usr/bin", "--ro-bind", programs, "/bin"],
		...["--ro-bind", texts, "/scripts", "--bind", logs, "/log", "--ro-bind", file, "/driver.sh"],
		...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/work", "--chdir", "/work"],
		...["--setenv", "COUNT", String(count), "--setenv", "LC_ALL", "C.UTF-8", "/real/bash", "/driver.sh"],
	];
}

/**
 * The log is a series of `=` with the number of a script, `!` with a file, and `+` with a count of words, the directory,
 * the program and the words.
 */
function readLog(tokens: readonly string[], count: number): Run[] {
	const runs = Array.from({ length: count }, () => ({ executions: [] as Execution[], files: [] as string[] }));
	let current = runs[0];
	for (let at = 0; at < tokens.length; ) {
		const token = tokens[at] ?? "";
		const rest = token.slice(1);
		at += 1;
		if (token.startsWith("=")) current = runs[Number(rest)];
		else if (token.startsWith("!")) current?.files.push(rest);
		else if (token.startsWith("+")) {
			const end = at + Number(rest) + 2;
			current?.executions.push({ cwd: tokens[at] ?? "", words: tokens.slice(at + 1, end) });
			at = end;
		}
	}
	return runs;
}
