// Requests to the gateway over real HTTP, which can be such as no browser would send.
import { type IncomingMessage, request as sendRequest } from "node:http";
import { isRecord } from "../../../src/base/json.ts";

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

export class GatewayRequests {
	protected readonly port: number;
	readonly #token: string;
	readonly #timeLimit: number | undefined;

	/** `timeLimit` is in milliseconds without a byte of the answer; absent for none. */
	constructor(port: number, token: string, timeLimit?: number) {
		this.port = port;
		this.#token = token;
		this.#timeLimit = timeLimit;
	}

	/** Fails when there is no answer in time. */
	send({ method = "GET", path = "/", authorization, headers = {}, body }: Sending): Promise<Answer> {
		return new Promise((resolve, reject) => {
			const options = { ...this.options(method, path, authorization, headers), timeout: this.#timeLimit };
			const request = sendRequest(options, (response) => {
				const pieces: Buffer[] = [];
				response.on("data", (piece: Buffer) => pieces.push(piece));
				response.on("error", reject);
				response.on("end", () => {
					const text = Buffer.concat(pieces).toString("utf8");
					resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(text) });
				});
			});
			request.on("timeout", () => request.destroy(new Error("no answer in time")));
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

	/** The result of a method that succeeds; fails for an error. */
	async result(
		method: string,
		params: unknown = {},
		headers: Sending["headers"] = {},
	): Promise<Record<string, unknown>> {
		const body = await this.call(method, params, headers);
		if (!isRecord(body) || !isRecord(body["result"])) throw new Error(`${method} was answered ${JSON.stringify(body)}`);
		return body["result"];
	}

	async createSession(params: object = {}): Promise<string> {
		return String((await this.result("sessions.create", params))["sessionId"]);
	}

	/** Of a request as this client sends it. */
	protected options(
		method: string,
		path: string,
		authorization: string | null | undefined,
		headers: Sending["headers"] = {},
	) {
		const bearer = authorization === undefined ? `Bearer ${this.#token}` : authorization;
		return {
			host: "127.0.0.1",
			port: this.port,
			method,
			path,
			agent: false as const,
			headers: { ...(bearer === null ? {} : { authorization: bearer }), ...headers },
		};
	}
}

/** JSON, or the text as it is. */
export function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
