// Connects stdin and stdout to a running gateway, which serves the command for this process. Loads no other part of the program.
import { createConnection, type Socket } from "node:net";
import path from "node:path";
import { productVersion } from "../../host/product.ts";
import { findHome } from "../home.ts";
import { socketName, toOutcome } from "./attach-protocol.ts";

/** Milliseconds for the gateway to accept the command. */
const patience = 5000;

/** The socket of a gateway: a path, or `1` for the socket in the share directory. Null disables relaying. */
function findSocket(environment: NodeJS.ProcessEnv): string | null {
	const named = environment["AGENTWIRE_ATTACH"] ?? "";
	if (named === "" || named === "0") return null;
	if (named !== "1") return path.resolve(named);
	const shareDir = environment["KIMI_SHARE_DIR"] || environment["AGENTWIRE_HOME"] || "~/.kimi";
	return path.resolve(shareDir.replace(/^~(?=\/|$)/, findHome() ?? "/nonexistent"), socketName);
}

/** The command's exit code; null if this process must run it itself. */
export async function relay(argv: readonly string[]): Promise<number | null> {
	const found = findSocket(process.env);
	if (found === null) return null;
	const socket = await connect(found);
	if (socket === null) {
		say(`No gateway listens at ${found}, so the command runs in this process.`);
		return null;
	}
	const { env: environment } = process;
	socket.write(`${JSON.stringify({ version: productVersion, argv, cwd: process.cwd(), environment })}\n`);
	const first = await readLine(socket);
	const answer = first === null ? null : toOutcome(first.line);
	if (first === null || answer === null || "refused" in answer) {
		socket.destroy();
		const why = answer !== null && "refused" in answer ? answer.refused : "it did not answer.";
		say(`The gateway does not serve this command, so it runs in this process: ${why}`);
		return null;
	}
	return await join(socket, first.rest);
}

function connect(file: string): Promise<Socket | null> {
	return new Promise((resolve) => {
		const socket = createConnection({ path: file, allowHalfOpen: true });
		socket.once("connect", () => resolve(socket));
		socket.once("error", () => resolve(null));
	});
}

/** The first line, and bytes received with it; null on a timeout. */
function readLine(socket: Socket): Promise<{ readonly line: string; readonly rest: Buffer } | null> {
	return new Promise((resolve) => {
		let seen = Buffer.alloc(0);
		const settle = (result: { readonly line: string; readonly rest: Buffer } | null) => {
			clearTimeout(timer);
			socket.removeListener("data", take);
			socket.pause();
			resolve(result);
		};
		const take = (bytes: Buffer) => {
			seen = Buffer.concat([seen, bytes]);
			const end = seen.indexOf("\n");
			if (end !== -1) settle({ line: seen.toString("utf8", 0, end), rest: seen.subarray(end + 1) });
		};
		const timer = setTimeout(() => settle(null), patience);
		socket.on("data", take);
		socket.on("error", () => settle(null));
		socket.on("close", () => settle(null));
		socket.on("end", () => settle(null));
	});
}

/** Forwards bytes until the gateway reports the result: a zero byte, which never occurs in JSON, and a line. */
function join(socket: Socket, rest: Buffer): Promise<number> {
	return new Promise((resolve) => {
		let last: Buffer | null = null;
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
		const finish = () => {
			const outcome = last === null ? null : toOutcome(last.toString("utf8"));
			const isKnown = outcome !== null && "exitCode" in outcome;
			if (!isKnown)
				say("Error: The gateway ended before the command did. Start the program again; sessions can be resumed.");
			else if (outcome.error !== null) say(`Error: ${outcome.error}`);
			const code = isKnown ? outcome.exitCode : 1;
			process.stdout.write("", () => resolve(code));
		};
		// The reader is gone: the gateway ends the turn.
		process.stdout.on("error", () => socket.destroy());
		socket.on("data", take);
		socket.on("close", finish);
		socket.on("end", () => socket.destroy());
		process.stdin.on("error", () => socket.end());
		process.stdin.pipe(socket);
		take(rest);
		socket.resume();
	});
}

function say(text: string): void {
	process.stderr.write(`${text}\n`);
}
