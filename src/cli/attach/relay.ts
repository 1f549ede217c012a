import { fstatSync, writeSync } from "node:fs";
import path from "node:path";
import { isatty } from "node:tty";
import { isOneFile } from "../../base/program-form.ts";
import { productVersion } from "../../host/product.ts";
import { findHome } from "../home.ts";
import { handleStopSignals, stopSignals } from "../process/stop-signals.ts";
import { type FirstLine, socketName, toFirstLine, toOutcome } from "./attach-protocol.ts";
import type { RelayPipes, RelaySocket } from "./relay-pipes.ts";

/** Milliseconds for the gateway to accept the command. */
const patience = 5000;

/** Milliseconds that the gateway has to end the command after a signal. */
const endPatience = 2000;

interface Target {
	readonly socket: string;
	/** Whether the environment names a gateway; otherwise one is used if it is there. */
	readonly asked: boolean;
}

/** `AGENTWIRE_ATTACH`: a path, `1` for the socket in the share directory, `0` for none. */
function findTarget(environment: NodeJS.ProcessEnv): Target | null {
	const named = environment["AGENTWIRE_ATTACH"] ?? "";
	if (named === "0") return null;
	const asked = named !== "";
	if (asked && named !== "1") return { socket: path.resolve(named), asked };
	const shareDir = environment["KIMI_SHARE_DIR"] || environment["AGENTWIRE_HOME"] || "~/.kimi";
	const directory = path.resolve(shareDir.replace(/^~(?=\/|$)/, findHome() ?? "/nonexistent"));
	return { socket: path.join(directory, socketName), asked };
}

/** The command's exit code; null if this process must run it itself. */
export async function relay(argv: readonly string[]): Promise<number | null> {
	const target = findTarget(process.env);
	if (target === null) return null;
	const { asked } = target;
	const pipes = isOneFile ? (await import("./bun-pipes.ts")).bunPipes() : (await import("./node-pipes.ts")).nodePipes;
	const socket = await pipes.connect(target.socket);
	if (socket === null) {
		if (asked) say(`No gateway listens at ${target.socket}, so the command runs in this process.`);
		return null;
	}
	// A person types at a terminal: only the command's own process can ask them.
	if (fstatSync(0).isCharacterDevice() && isatty(0)) {
		socket.destroy();
		return null;
	}
	const { env: environment } = process;
	const umask = process.umask();
	const command = { version: productVersion, argv, cwd: process.cwd(), environment, umask, asked };
	const late = setTimeout(() => socket.destroy(), patience);
	await socket.write(Buffer.from(`${JSON.stringify(command)}\n`));
	const first = await readLine(socket.received);
	clearTimeout(late);
	const answer = first === null ? null : toOutcome(first.line);
	if (first === null || answer === null || !("taken" in answer)) {
		socket.destroy();
		const why = answer !== null && "refused" in answer ? answer.refused : "it did not answer.";
		say(`The gateway does not serve this command, so it runs in this process: ${why}`);
		return null;
	}
	const how = asked ? "" : "A gateway serves this command; AGENTWIRE_ATTACH=0 runs it in this process.\n";
	say(`${how}${answer.notice}`.trimEnd());
	const endsWithSignal = argv[0] === "codex" && !argv.includes("app-server");
	const presence = await pipes.connect(target.socket);
	await presence?.write(Buffer.from(`${JSON.stringify({ command: answer.command })}\n`));
	return await join(pipes, socket, first.rest, { presence, endsWithSignal });
}

async function readLine(received: RelaySocket["received"]): Promise<FirstLine | null> {
	let seen = Buffer.alloc(0);
	for (;;) {
		const next = await received.next();
		if (next.done === true) return null;
		seen = Buffer.concat([seen, next.value]);
		const first = toFirstLine(seen);
		if (first !== null) return first;
	}
}

interface Served {
	/** Null if the gateway has ended. */
	readonly presence: RelaySocket | null;
	/** Whether a signal is the exit code; otherwise a signal is a normal end. */
	readonly endsWithSignal: boolean;
}

/** Forwards bytes until the gateway reports the result: a zero byte, which never occurs in JSON, and a line. */
async function join(pipes: RelayPipes, socket: RelaySocket, rest: Buffer, served: Served): Promise<number> {
	const { presence, endsWithSignal } = served;
	let signaled: number | null = null;
	handleStopSignals((signal) => {
		const code = endsWithSignal ? stopSignals[signal] : 0;
		// Interrupting twice gives up.
		if (signaled !== null && signal === "SIGINT" && endsWithSignal) process.exit(code);
		signaled ??= code;
		void presence?.write(Buffer.from(signal));
		setTimeout(() => socket.destroy(), endPatience).unref();
	});
	void sendInput(pipes, socket);
	const last: Uint8Array[] = [];
	try {
		for (let bytes: Uint8Array | null = rest; bytes !== null; bytes = (await socket.received.next()).value ?? null) {
			const end = last.length > 0 ? 0 : bytes.indexOf(0);
			if (end !== -1) last.push(bytes.subarray(end));
			const text = end === -1 ? bytes : bytes.subarray(0, end);
			if (text.length > 0) await pipes.output(text);
		}
	} catch {
		// The reader is gone: the gateway ends the turn.
		socket.destroy();
		if (last.length === 0) return endsWithSignal ? brokenPipe : 1;
	}
	const outcome = last.length === 0 ? null : toOutcome(Buffer.concat(last).toString("utf8", 1));
	if (outcome !== null && "exitCode" in outcome) {
		if (outcome.error !== null) say(`Error: ${outcome.error}`);
		return signaled ?? outcome.exitCode;
	}
	if (signaled !== null) return signaled;
	say("Error: The gateway ended before the command did. Start the program again; sessions can be resumed.");
	return 1;
}

async function sendInput(pipes: RelayPipes, socket: RelaySocket): Promise<void> {
	for await (const bytes of pipes.input()) await socket.write(bytes);
	socket.end();
}

/** The exit code that shells report for SIGPIPE. */
const brokenPipe = 141;

/** Silent where stderr is stdout: the line would be among the protocol's. */
function say(text: string): void {
	if (text === "" || isErrorShared()) return;
	try {
		writeSync(2, `${text}\n`);
	} catch {
		// Nobody reads it.
	}
}

function isErrorShared(): boolean {
	const [output, error] = [fstatSync(1), fstatSync(2)];
	return output.dev === error.dev && output.ino === error.ino;
}
