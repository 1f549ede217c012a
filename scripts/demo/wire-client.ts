// A client of Kimi Wire in one file: starts the executable and speaks lines of JSON with it. It shows nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { isRecord } from "../../src/base/json.ts";

/** A `{type, payload}` message: an event when `requestId` is null, else a request that wants an answer. */
export interface WireMessage {
	readonly requestId: string | null;
	readonly type: string;
	readonly payload: unknown;
}

export interface WireClient {
	/** Sends a request and gives its result. Rejects with the text of an error reply, or when the process goes away. */
	request(method: string, params: object): Promise<Record<string, unknown>>;
	answer(requestId: string, result: object): void;
	/** Messages received so far. */
	messageCount(): number;
	/** Closes the input, which ends the process; gives its exit code (or signal) once it is gone. */
	stop(): Promise<number | string>;
	/** Ends the process at once, if it still runs. */
	kill(): void;
}

export interface WireCommand {
	readonly executable: string;
	readonly arguments: readonly string[];
	readonly environment: NodeJS.ProcessEnv;
}

/** Starts the process. `onMessage` sees every event and request in order. */
export function startWireClient(command: WireCommand, onMessage: (message: WireMessage) => void): WireClient {
	const child = spawn(command.executable, command.arguments, { env: command.environment, stdio: "pipe" });
	const open = new Map<string, { resolve(result: Record<string, unknown>): void; reject(error: Error): void }>();
	let sent = 0;
	let received = 0;
	let errorOutput = "";

	const gone = new Promise<number | string>((resolve) => {
		const end = (how: number | string) => {
			for (const { reject } of open.values()) reject(new Error(`agentwire ended (${how}).\n${errorOutput.trim()}`));
			open.clear();
			resolve(how);
		};
		child.on("error", (error) => end(error.message));
		child.on("close", (code, signal) => end(code ?? signal ?? 0));
	});
	child.stderr.on("data", (bytes: Buffer) => {
		errorOutput = (errorOutput + bytes.toString("utf8")).slice(-2000);
	});
	// A process that went away is noticed by its end.
	child.stdin.on("error", () => {});

	createInterface({ input: child.stdout }).on("line", (line) => {
		const value: unknown = JSON.parse(line);
		if (!isRecord(value)) return;
		const { method, id, params, result, error } = value;
		if (typeof method === "string" && isRecord(params) && typeof params["type"] === "string") {
			received += 1;
			const requestId = method === "request" && typeof id === "string" ? id : null;
			onMessage({ requestId, type: params["type"], payload: params["payload"] });
		} else if (typeof id === "string") {
			const waiting = open.get(id);
			open.delete(id);
			if (isRecord(error)) waiting?.reject(new Error(String(error["message"])));
			else waiting?.resolve(isRecord(result) ? result : {});
		}
	});

	const send = (value: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`);
	return {
		request(method, params) {
			sent += 1;
			const id = String(sent);
			return new Promise((resolve, reject) => {
				open.set(id, { resolve, reject });
				send({ id, method, params });
			});
		},
		answer: (id, result) => void send({ id, result }),
		messageCount: () => received,
		kill: () => void child.kill("SIGKILL"),
		async stop() {
			child.stdin.end();
			const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
			if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) await once(child, "close");
			clearTimeout(timer);
			return await gone;
		},
	};
}
