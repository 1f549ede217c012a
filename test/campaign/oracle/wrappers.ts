// Commands that run other commands, which their words or their input name: `env`, `xargs`, `sh -c`, `eval` and the like.
import type { Random } from "../random.ts";

/** What wrappers are written around. */
export interface Parts {
	readonly random: Random;
	word(): string;
	/** Any number of words, each after a blank. */
	words(): string;
	/** A program with words, as another program gets it to run. */
	inner(): string;
	simple(): string;
	/** Commands, as text for another shell. */
	nested(): string;
	hereDocument(body: () => string, expands: boolean): string;
}

export function writeWrapper({ random, word, words, inner, simple, nested, hereDocument }: Parts): string {
	const quote = (text: string): string => writeQuoted(random, text);
	return random.pick<() => string>([
		() =>
			`env ${random.pick(["", "A=1 ", "-u A ", "-i PATH=/usr/bin ", "- PATH=/usr/bin ", "-- ", "-C / ", "--chdir=/ ", "-uA ", "A=1 -- ", "--unset A ", "-v "])}${inner()}`,
		() =>
			`timeout ${random.pick(["5 ", "-s KILL 5 ", "--signal=KILL 5 ", "-k 3 5 ", "-k3 5 ", "--foreground 5s ", "-- 5 ", "--preserve-status 1m "])}${inner()}`,
		() => `nice ${random.pick(["", "-n 5 ", "-n5 ", "-5 ", "--adjustment=5 ", "-- "])}${inner()}`,
		() => `nohup ${random.pick(["", "-- "])}${inner()}`,
		() => `setsid ${random.pick(["", "-w ", "--wait ", "-f "])}${inner()}`,
		() => `stdbuf ${random.pick(["-oL ", "-o L ", "-i0 -o0 ", "--output=L ", "-oL -- "])}${inner()}`,
		() => `ionice ${random.pick(["-c 3 ", "-c3 ", "-c 2 -n 1 ", "-t "])}${inner()}`,
		() => `flock by-program ${random.pick(["", "-c "])}${inner()}`,
		() => `command ${random.pick(["", "-p ", "-- ", "-v ", "-V "])}${inner()}`,
		() => `builtin command ${inner()}`,
		() => `(exec ${random.pick(["", "-a q ", "-aq ", "-- ", "-c ", "-l ", "-cl "])}${inner()})`,
		() =>
			`xargs ${random.pick(["", "-n1 ", "-n 1 ", "-r ", "-0 ", "-P2 ", "-L1 ", "--max-args=1 ", "-I{} ", "-I % ", "-i ", "-d , ", "-- ", "-t ", "-E x ", "-s 999 ", "-a /dev/null "])}${inner()} <<< ${random.pick(["x", "'a b'", "-rf"])}`,
		() => `echo ${word()} | xargs ${inner()}`,
		() =>
			`find /dev/null ${random.pick(["", "-type f -o ", "-name null "])}${random.pick(["-exec", "-execdir"])} ${inner()} ${random.pick(["{} \\;", "\\;", "{} +", "';'", "'{}' \";\" -print"])}`,
		() => `${writeShell(random)} -c ${quote(nested())}${words()}`,
		() =>
			`${writeShell(random)} ${random.pick(["-ec", "-c --", "-e -c", "-xc", "-ce", "+e -c", "-o errexit -c"])} ${quote(nested())}`,
		() =>
			`bash ${random.pick(["--norc -c", "-O extglob -c", "--posix -c", "--rcfile f -c", "-lc", "--login -c", "-ic"])} ${quote(nested())}`,
		() => `eval ${quote(nested())}`,
		() => `eval ${random.pick(["", "-- "])}${quote(simple())} ${quote("; ")} ${inner()}`,
		() => `builtin eval ${quote(nested())}`,
		() =>
			`trap ${random.pick(["", "-- "])}${quote(nested())} ${random.pick(["EXIT", "0", "DEBUG", "ERR", "RETURN", "TERM"])}`,
		() => `cat${hereDocument(() => nested(), random.chance(40))} | ${writeShell(random)}`,
		() => `${writeShell(random)}${hereDocument(() => nested(), random.chance(40))}`,
		() => `${writeShell(random)} <<< ${quote(nested())}`,
		() => `echo ${quote(nested())} | ${writeShell(random)} ${random.pick(["", "-s", "-", "-s x", "/dev/stdin"])}`,
		() => `${writeShell(random)} <(echo ${quote(nested())})`,
		() => `. <(echo ${quote(nested())})`,
		() => `source /dev/stdin <<< ${quote(nested())}`,
		() => `env ${random.pick(["-S ", "-S", "--split-string=", "-vS ", "-iS "])}${quote(inner())}`,
		() => `busybox ${inner()}`,
		() => `sudo ${inner()}`,
	])();
}

export function writeShell(random: Random): string {
	return random.pick(["bash", "bash", "sh", "dash", "/bin/sh", "/bin/bash", "b''ash", "env bash", "exec bash"]);
}

/** A text as one word, quoted in some way; with expansions left to the outer shell in some. */
export function writeQuoted(random: Random, text: string): string {
	const single = `'${text.replaceAll("'", "'\\''")}'`;
	const double = `"${text.replaceAll(/[\\$`"]/g, "\\$&")}"`;
	const ansi = `$'${text
		.replaceAll(/[\\']/g, "\\$&")
		.replaceAll("\n", "\\n")
		.replace(/[a-z]/, (letter) => `\\x${letter.charCodeAt(0).toString(16)}`)}'`;
	return random.pick([
		single,
		single,
		double,
		ansi,
		`"${text.replaceAll(/[\\"`]/g, "\\$&")}"`,
		`$"${text.replaceAll(/[\\$`"]/g, "\\$&")}"`,
	]);
}
