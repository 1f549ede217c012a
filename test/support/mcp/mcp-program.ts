// A program that speaks the MCP protocol, within the test process: stands where a child process would.
import { isRecord } from "../../../src/base/json.ts";
import type { ChildStdio, Processes, RunOutcome, RunRequest } from "../../../src/ports/processes/port.ts";
import { noProcesses } from "../sessions/session-doubles.ts";

export interface ReceivedMessage {
	readonly id?: number | string;
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
	readonly result?: unknown;
}

/** One run of the program, as the program sees it. */
export interface ProgramRun {
	readonly request: RunRequest;
	readonly received: ReceivedMessage[];
	/** Whether its stdin was closed. */
	isInputClosed: boolean;
	/** Whether it is over. */
	isOver: boolean;
	send(message: object): void;
	/** Prints as it is. */
	print(text: string, source?: "output" | "error"): void;
	exit(ended?: RunOutcome["ended"]): void;
}

export interface ProgramOptions {
	readonly tools?: readonly unknown[];
	/** The answer to a call; null for none yet, and an Error for an error. */
	call?(params: Readonly<Record<string, unknown>>, run: ProgramRun, id: number | string): unknown;
	/** Takes a message in place of the program; true when it did. */
	handle?(message: ReceivedMessage, run: ProgramRun): boolean;
	/** Whether its stdin is closed from the beginning. */
	readonly isDeaf?: boolean;
}

export interface Program {
	readonly processes: Processes;
	readonly runs: ProgramRun[];
	/** The last run; throws when there was none. */
	run(): ProgramRun;
}

export function createProgram({ tools = [], call, handle, isDeaf = false }: ProgramOptions = {}): Program {
	const runs: ProgramRun[] = [];

	const answer = (message: ReceivedMessage, run: ProgramRun) => {
		const { id, method, params = {} } = message;
		if (id === undefined || handle?.(message, run) === true) return;
		if (method === "initialize") {
			const { protocolVersion } = params;
			const capabilities = { tools: { listChanged: true } };
			run.send({ id, result: { protocolVersion, capabilities, serverInfo: { name: "program", version: "1" } } });
		} else if (method === "tools/list") run.send({ id, result: { tools } });
		else if (method === "tools/call") {
			const result = call?.(params, run, id) ?? null;
			if (result instanceof Error) run.send({ id, error: { code: -32000, message: result.message } });
			else if (result !== null) run.send({ id, result });
		} else if (method !== undefined) run.send({ id, error: { code: -32601, message: `No ${method} here` } });
	};

	const start = (request: RunRequest, conversation: ChildStdio, signal: AbortSignal): Promise<RunOutcome> =>
		new Promise((resolve) => {
			const run: ProgramRun = {
				request,
				received: [],
				isInputClosed: false,
				isOver: false,
				send: (message) => run.print(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
				print(text, source = "output") {
					if (!run.isOver) conversation.hear(source, Buffer.from(text));
				},
				exit(ended = { kind: "exited", exitCode: 0 }) {
					run.isOver = true;
					resolve({
						ended,
						output: "",
						errorOutput: "",
						outputBytes: 0,
						truncated: false,
						spilledTo: null,
					});
				},
			};
			runs.push(run);
			signal.addEventListener("abort", () => run.exit({ kind: "aborted" }), { once: true });
			conversation.begin({
				async write(text) {
					if (run.isOver || isDeaf) throw new Error("write EPIPE");
					for (const line of text.trim().split("\n")) {
						const message: unknown = JSON.parse(line);
						if (!isRecord(message)) continue;
						run.received.push(message);
						// A process answers later, too.
						queueMicrotask(() => answer(message, run));
					}
				},
				close() {
					run.isInputClosed = true;
					run.exit();
				},
			});
		});

	return {
		runs,
		run() {
			const last = runs.at(-1);
			if (last === undefined) throw new Error("The program was not started.");
			return last;
		},
		processes: {
			...noProcesses,
			run(request, signal) {
				const { conversation } = request;
				if (conversation === undefined) return noProcesses.run(request, signal);
				return start(request, conversation, signal);
			},
		},
	};
}
