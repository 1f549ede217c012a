import { fstatSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import path from "node:path";
import { isatty } from "node:tty";
import { productVersion } from "../../host/product.ts";
import { findHome } from "../home.ts";
import { handleStopSignals, stopSignals } from "../process/stop-signals.ts";
import { type Outcome, readFirstLine, socketName, toOutcome } from "./attach-protocol.ts";

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
	const socket = await connect(target.socket);
	if (socket === null) {
		if (asked) say(`No gateway listens at ${target.socket}, so the command runs in this process.`);
		return null;
	}
	// A person types at a terminal: only the command's own process can ask them.
	if (isatty(0)) {
		socket.destroy();
		return null;
	}
	const { env: environment } = process;
	const umask = process.umask();
	const command = { version: productVersion, argv, cwd: process.cwd(), environment, umask, asked };
	socket.write(`${JSON.stringify(command)}\n`);
	const first = await readFirstLine(socket, AbortSignal.timeout(patience));
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
	const presence = await connect(target.socket);
	presence?.write(`${JSON.stringify({ command: answer.command })}\n`);
	return await join(socket, first.rest, { presence, endsWithSignal });
}

function connect(file: string): Promise<Socket | null> {
	return new Promise((resolve) => {
		const socket = createConnection({ path: file, allowHalfOpen: true });
		socket.once("connect", () => resolve(socket));
		// Later errors show as the end of the connection.
		socket.on("error", () => resolve(null));
	});
}

interface Served {
	/** Null if the gateway has ended. */
	readonly presence: Socket | null;
	/** Whether a signal is the exit code; otherwise a signal is a normal end. */
	readonly endsWithSignal: boolean;
}

/** Forwards bytes until the gateway reports the result: a zero byte, which never occurs in JSON, and a line. */
function join(socket: Socket, rest: Buffer, served: Served): Promise<number> {
	return new Promise((resolve) => {
		let last: Buffer | null = null;
		let isOutputGone = false;
		let signaled: number | null = null;
		const take = (bytes: Buffer) => {
			if (last !== null) {
				last = Buffer.concat([last, bytes]);
				return;
			}
			const end = bytes.indexOf(0);
			const text = end === -1 ? bytes : bytes.subarray(0, end);
			if (end !== -1) last = bytes.subarray(end + 1);
			if (text.length > 0 && !process.stdout.write(text)) {
				socket.pause();
				process.stdout.once("drain", () => socket.resume());
			}
		};
		const toCode = (outcome: Outcome | null): number => {
			if (outcome !== null && "exitCode" in outcome) {
				if (outcome.error !== null) say(`Error: ${outcome.error}`);
				return signaled ?? outcome.exitCode;
			}
			if (isOutputGone) return served.endsWithSignal ? brokenPipe : 1;
			if (signaled !== null) return signaled;
			say("Error: The gateway ended before the command did. Start the program again; sessions can be resumed.");
			return 1;
		};
		const finish = () => {
			const code = toCode(last === null ? null : toOutcome(last.toString("utf8")));
			process.stdout.write("", () => resolve(code));
		};
		handleStopSignals((signal) => {
			const code = served.endsWithSignal ? stopSignals[signal] : 0;
			// Interrupting twice gives up.
			if (signaled !== null && signal === "SIGINT" && served.endsWithSignal) process.exit(code);
			signaled ??= code;
			served.presence?.write(signal);
			setTimeout(() => socket.destroy(), endPatience).unref();
		});
		// The reader is gone: the gateway ends the turn.
		process.stdout.on("error", () => {
			isOutputGone = true;
			socket.destroy();
		});
		socket.on("data", take);
		socket.on("close", finish);
		socket.on("end", () => socket.destroy());
		process.stdin.on("error", () => socket.end());
		process.stdin.pipe(socket);
		take(rest);
		socket.resume();
	});
}

/** The exit code that shells report for SIGPIPE. */
const brokenPipe = 141;

/** Silent where stderr is stdout: the line would be among the protocol's. */
function say(text: string): void {
	if (text !== "" && !isErrorShared()) process.stderr.write(`${text}\n`);
}

function isErrorShared(): boolean {
	const [output, error] = [fstatSync(1), fstatSync(2)];
	return output.dev === error.dev && output.ino === error.ino;
}
