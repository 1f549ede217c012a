// A server process and the client's end of its streams: what tests send it, what it says, and how it ends.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { expect } from "vitest";

/** A line of the server's, as far as tests look into it. */
export interface ServerLine {
	readonly id?: string | null;
	readonly method?: "event" | "request";
	readonly params?: { readonly type: string; readonly payload: Record<string, unknown> };
	readonly result?: Record<string, unknown>;
	readonly error?: { readonly code: number; readonly message: string; readonly data: unknown };
}

/** A running server and the client's end of its streams. */
export class Server {
	readonly pid: number;
	/** Resolves with the exit code, once its output was read; null when a signal ended it. */
	readonly exited: Promise<number | null>;
	/** The same, whether or not its output was read. */
	readonly gone: Promise<number | null>;
	stderr = "";
	/** Bytes of its output that were read so far. */
	bytesRead = 0;
	/** Bytes a second at which its output is read; null for as fast as it comes. */
	#pace: number | null = null;
	readonly #child: ChildProcessWithoutNullStreams;
	#rest: Buffer[] = [];
	#lines: ServerLine[] = [];
	#ended = false;
	#wake: () => void = () => {};

	constructor(child: ChildProcessWithoutNullStreams) {
		this.#child = child;
		this.pid = child.pid ?? 0;
		this.exited = new Promise((resolve, reject) => {
			child.once("close", (code) => resolve(code));
			child.once("error", reject);
		});
		this.gone = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
		child.stdin.on("error", () => {});
		child.stdout.on("data", (bytes: Buffer) => this.#take(bytes));
		child.stdout.on("close", () => {
			this.#ended = true;
			this.#wake();
		});
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.stderr += text;
		});
	}

	/** Sends bytes as they are. */
	write(bytes: string | Buffer): void {
		this.#child.stdin.write(bytes);
	}

	request(id: string, method: string, params?: unknown): void {
		this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })}\n`);
	}

	initialize(version = "1.10"): void {
		this.request("initialize", "initialize", { protocol_version: version });
	}

	prompt(text: string, id = "prompt"): void {
		this.request(id, "prompt", { user_input: text });
	}

	answer(id: string, result: unknown): void {
		this.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
	}

	decide(request: ServerLine, response: "approve" | "approve_for_session" | "reject"): void {
		const id = request.id ?? "";
		this.answer(id, { request_id: id, response });
	}

	/** The next line; null when the server has closed its output. Throws on a line that is not JSON. */
	async read(): Promise<ServerLine | null> {
		for (;;) {
			const line = this.#lines.shift();
			if (line !== undefined) return line;
			if (this.#ended) return null;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}

	/** The lines up to and with the first that fits. Throws when the output ends before. */
	async readUntil(fits: (line: ServerLine) => boolean): Promise<ServerLine[]> {
		const lines: ServerLine[] = [];
		for (;;) {
			const line = await this.read();
			if (line === null) throw new Error(`The output ended behind ${JSON.stringify(lines.slice(-3))}\n${this.stderr}`);
			lines.push(line);
			if (fits(line)) return lines;
		}
	}

	/** Reads up to the answer to a request and gives it. */
	async response(id: string): Promise<ServerLine> {
		return lastOf(await this.readUntil((line) => isResponse(line, id)));
	}

	/** Reads up to a message of this type and gives it. */
	async message(type: string): Promise<ServerLine> {
		return lastOf(await this.readUntil((line) => line.params?.type === type));
	}

	/** Everything until the server closes its output. */
	async readAll(): Promise<ServerLine[]> {
		const lines: ServerLine[] = [];
		for (let line = await this.read(); line !== null; line = await this.read()) lines.push(line);
		return lines;
	}

	/** Reads on at so many bytes a second, or as fast as the output comes. */
	readAt(bytesPerSecond: number | null): void {
		this.#pace = bytesPerSecond;
		if (bytesPerSecond === null) this.resume();
	}

	pause(): void {
		this.#child.stdout.pause();
	}

	resume(): void {
		this.#child.stdout.resume();
	}

	endInput(): void {
		this.#child.stdin.end();
	}

	/** Closes the client's end of the server's stdout. */
	closeOutput(): void {
		this.#child.stdout.destroy();
	}

	kill(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	/** Splits on the newline byte only and reads each line as JSON. */
	#take(bytes: Buffer): void {
		this.bytesRead += bytes.length;
		if (this.#pace !== null) {
			this.pause();
			setTimeout(() => this.resume(), (bytes.length / this.#pace) * 1000);
		}
		let start = 0;
		for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
			const line = Buffer.concat([...this.#rest, bytes.subarray(start, end)]).toString("utf8");
			this.#rest = [];
			this.#lines.push(JSON.parse(line));
			start = end + 1;
		}
		if (start < bytes.length) this.#rest.push(bytes.subarray(start));
		this.#wake();
	}
}

/** Ends the server, within the two seconds that it has and what a machine adds. Resolves with its exit code. */
export async function endsInTime(server: Server, end: () => void): Promise<number | null> {
	const before = performance.now();
	end();
	const code = await server.exited;
	expect(performance.now() - before).toBeLessThan(2300);
	return code;
}

export function isResponse(line: ServerLine, id: string): boolean {
	return line.id === id && line.method === undefined;
}

/** Each line as a word: the type of a message, the status of a result, the code of an error. */
export function outline(lines: readonly ServerLine[]): string[] {
	return lines.map(({ params, result, error }) => {
		if (params !== undefined) return params.type;
		return error === undefined ? String(result?.["status"] ?? "result") : String(error.code);
	});
}

export function lastOf<T>(items: readonly T[]): T {
	const last = items.at(-1);
	if (last === undefined) throw new Error("There is no last one.");
	return last;
}
