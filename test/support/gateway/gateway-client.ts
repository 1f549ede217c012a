// A client of the gateway over real HTTP, which can send what no browser would.
import { type IncomingMessage, request as sendRequest } from "node:http";
import { onTestFinished } from "vitest";

export interface Answer {
	readonly status: number;
	readonly headers: IncomingMessage["headers"];
	/** Parsed, if it is JSON. */
	readonly body: unknown;
}

export interface Sending {
	readonly method?: string;
	readonly path?: string;
	/** Replaces that of the token; null for none. */
	readonly authorization?: string | null;
	readonly headers?: Readonly<Record<string, string | readonly string[]>>;
	readonly body?: string | Buffer;
}

/** A message of a stream of events. */
export interface StreamMessage {
	readonly id: string | null;
	readonly name: string;
	readonly data: Readonly<Record<string, unknown>>;
}

export interface Stream {
	readonly status: number;
	readonly messages: StreamMessage[];
	/** What the server said that is no message. */
	readonly comments: readonly string[];
	/** Resolves with the first message, earlier ones included, that fits; fails when the stream ends without one. */
	until(fits: (message: StreamMessage) => boolean): Promise<StreamMessage>;
	/** Resolves when the server has ended the stream or the connection broke. */
	readonly ended: Promise<void>;
	close(): void;
	/** Stops reading, and goes on. */
	pause(): void;
	resume(): void;
}

export class GatewayClient {
	readonly #port: number;
	readonly #token: string;

	constructor(port: number, token: string) {
		this.#port = port;
		this.#token = token;
	}

	send({ method = "GET", path = "/", authorization, headers = {}, body }: Sending): Promise<Answer> {
		return new Promise((resolve, reject) => {
			const request = sendRequest(this.#options(method, path, authorization, headers), (response) => {
				const pieces: Buffer[] = [];
				response.on("data", (piece: Buffer) => pieces.push(piece));
				response.on("error", reject);
				response.on("end", () => {
					const text = Buffer.concat(pieces).toString("utf8");
					resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(text) });
				});
			});
			request.on("error", reject);
			request.end(body);
		});
	}

	/** The answer to a method of `/rpc`: `result` or `error`. */
	async call(method: string, params: unknown = {}, headers: Sending["headers"] = {}): Promise<unknown> {
		const answer = await this.send({
			method: "POST",
			path: "/rpc",
			headers: { "content-type": "application/json", ...headers },
			body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
		});
		return answer.body;
	}

	/** The result of a method that succeeds. */
	async result(
		method: string,
		params: unknown = {},
		headers: Sending["headers"] = {},
	): Promise<Record<string, unknown>> {
		const body = await this.call(method, params, headers);
		if (!isObject(body) || !isObject(body["result"])) throw new Error(`${method} was answered ${JSON.stringify(body)}`);
		return body["result"];
	}

	async createSession(params: object = {}): Promise<string> {
		return String((await this.result("sessions.create", params))["sessionId"]);
	}

	/** Opens a stream, which is closed with the running test. */
	stream(query: string, headers: Sending["headers"] = {}): Promise<Stream> {
		return new Promise((resolve, reject) => {
			const request = sendRequest(this.#options("GET", `/events?${query}`, undefined, headers), (response) => {
				resolve(toStream(response));
			});
			request.on("error", reject);
			request.end();
			onTestFinished(() => void request.destroy());
		});
	}

	#options(method: string, path: string, authorization: string | null | undefined, headers: Sending["headers"] = {}) {
		const bearer = authorization === undefined ? `Bearer ${this.#token}` : authorization;
		return {
			host: "127.0.0.1",
			port: this.#port,
			method,
			path,
			agent: false as const,
			headers: { ...(bearer === null ? {} : { authorization: bearer }), ...headers },
		};
	}
}

function toStream(response: IncomingMessage): Stream {
	const messages: StreamMessage[] = [];
	const comments: string[] = [];
	const waiting = new Set<() => void>();
	let isOver = false;
	let rest = "";
	const wake = () => {
		for (const look of [...waiting]) look();
	};
	response.setEncoding("utf8");
	response.on("data", (piece: string) => {
		rest += piece;
		const blocks = rest.split("\n\n");
		rest = blocks.pop() ?? "";
		comments.push(...blocks.filter((block) => block.startsWith(": ")).map((block) => block.slice(2)));
		messages.push(...blocks.flatMap(toMessage));
		wake();
	});
	const ended = new Promise<void>((resolve) => {
		response.on("close", () => {
			isOver = true;
			wake();
			resolve();
		});
	});
	response.on("error", () => {});
	return {
		status: response.statusCode ?? 0,
		messages,
		comments,
		ended,
		until: (fits) =>
			new Promise((resolve, reject) => {
				const look = () => {
					const found = messages.find(fits);
					if (found === undefined && !isOver) return;
					waiting.delete(look);
					if (found !== undefined) resolve(found);
					else
						reject(
							new Error(
								`The stream ended after ${messages.map(({ name, data }) => `${name} ${String(data["type"])}`).join(", ")}`,
							),
						);
				};
				waiting.add(look);
				look();
			}),
		close: () => void response.destroy(),
		pause: () => void response.pause(),
		resume: () => void response.resume(),
	};
}

function toMessage(block: string): StreamMessage[] {
	const fields = new Map(
		block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
	);
	const name = fields.get("event");
	const data = parsed(fields.get("data") ?? "");
	return name === undefined || !isObject(data) ? [] : [{ id: fields.get("id") ?? null, name, data }];
}

/** Whether a message of a stream is this event. */
export const isEvent = (type: string) => (message: StreamMessage) => message.data["type"] === type;

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
