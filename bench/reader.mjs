// The fixed reader of the start measurements, in a process of its own: starts a program, sends it lines, and says on stdout when
// what came back, in milliseconds since just before the program was started. Plain JavaScript, so that nothing is compiled first.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const { command, environment, steps } = JSON.parse(readFileSync(0, "utf8"));
const [file, ...words] = command;
const newline = 0x0a;
const begun = performance.now();
const child = spawn(file, words, { env: environment, stdio: ["pipe", "pipe", "ignore"] });
child.stdin.on("error", () => {});
child.on("error", (error) => {
	process.stdout.write(JSON.stringify({ error: error.message }));
	process.exit(1);
});

/** Each step: the time at which it was sent, of its first line, of its reply, and how many lines there were. */
const results = [];
let step = -1;
let sent = begun;
let first = null;
let lines = 0;
let tail = Buffer.alloc(0);

function memory(name) {
	try {
		return (
			Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) *
			1024
		);
	} catch {
		return null;
	}
}

function next() {
	step += 1;
	if (step >= steps.length) {
		const peak = memory("VmHWM");
		child.stdin.end();
		child.on("exit", () => process.stdout.write(JSON.stringify({ results, peak })));
		setTimeout(() => child.kill("SIGKILL"), 5000).unref();
		return;
	}
	const { wait, line } = steps[step];
	const send = () => {
		const idle = memory("VmRSS");
		sent = step === 0 ? begun : performance.now();
		first = null;
		lines = 0;
		results.push({ idle });
		child.stdin.write(`${line}\n`);
	};
	if (wait > 0) setTimeout(send, wait);
	else send();
}

child.stdout.on("data", (bytes) => {
	const at = performance.now();
	first ??= at;
	for (let from = bytes.indexOf(newline); from !== -1; from = bytes.indexOf(newline, from + 1)) lines += 1;
	tail = bytes.length >= 8192 ? bytes.subarray(-8192) : Buffer.concat([tail.subarray(-8192), bytes]);
	if (tail.at(-1) !== newline) return;
	const last = tail.toString("utf8", tail.lastIndexOf(newline, tail.length - 2) + 1);
	// A reply has no method; nearly all lines are events.
	if (last.includes('"method"') || step >= steps.length) return;
	const { error } = last.includes('"error"') ? JSON.parse(last) : {};
	// The time of a failure is not the time of what was asked for.
	if (error !== undefined) {
		process.stdout.write(JSON.stringify({ error: `answered ${steps[step].line} with: ${error.message}` }));
		child.kill("SIGKILL");
		process.exit(1);
	}
	Object.assign(results[step], { first: first - sent, reply: at - sent, afterFirst: at - first, lines });
	next();
});
next();
