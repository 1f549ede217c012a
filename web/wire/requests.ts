// Requests to the gateway: JSON-RPC by POST. A request that changes something has a key, so that it can be sent again
// when its connection breaks, and is acted on once.
import type { HistoryPage } from "../../src/gateway/history.ts";
import type { MethodName, Params, Result } from "../../src/gateway/protocol.ts";

/** What the gateway refused, in its words. */
export class Refused extends Error {
	override readonly name = "Refused";
	/** The name of the error, such as `busy`; null for a refusal by HTTP. */
	readonly code: string | null;
	/** The status of HTTP. */
	readonly status: number;

	constructor(message: string, code: string | null, status: number) {
		super(message);
		this.code = code;
		this.status = status;
	}
}

/** The gateway cannot be reached. */
export class Unreachable extends Error {
	override readonly name = "Unreachable";
}

const attempts = 6;
/** Milliseconds before the second attempt; each later one waits twice as long. */
const firstWait = 300;
const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

export class Requests {
	readonly #token: string;
	#count = 0;

	constructor(token: string) {
		this.#token = token;
	}

	get headers(): Readonly<Record<string, string>> {
		return { authorization: `Bearer ${this.#token}` };
	}

	/** Fails with `Refused` or `Unreachable`. */
	async call<N extends MethodName>(method: N, params: Params<N>): Promise<Result<N>> {
		this.#count += 1;
		const body = JSON.stringify({ jsonrpc: "2.0", id: this.#count, method, params });
		const headers = { ...this.headers, "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
		const { status, value } = await this.#fetch("/rpc", { method: "POST", headers, body });
		if (isRecord(value) && isRecord(value["error"])) {
			const { message, data } = value["error"];
			const code = isRecord(data) && typeof data["code"] === "string" ? data["code"] : null;
			throw new Refused(String(message), code, status);
		}
		if (isRecord(value) && "result" in value) return value["result"] as Result<N>;
		throw toRefused(value, status);
	}

	/** Stored events before the number, or the last ones. */
	async history(sessionId: string, before: number | null, limit: number): Promise<HistoryPage> {
		const query = before === null ? `limit=${limit}` : `before=${before}&limit=${limit}`;
		const path = `/sessions/${encodeURIComponent(sessionId)}/history?${query}`;
		const { status, value } = await this.#fetch(path, { headers: this.headers });
		if (status !== 200) throw toRefused(value, status);
		return value as HistoryPage;
	}

	async #fetch(path: string, options: RequestInit): Promise<{ readonly status: number; readonly value: unknown }> {
		for (let attempt = 1; ; attempt += 1) {
			try {
				const response = await fetch(path, { ...options, cache: "no-store" });
				return { status: response.status, value: await response.json() };
			} catch {
				if (attempt === attempts) throw new Unreachable("The gateway cannot be reached.");
				await wait(firstWait * 2 ** (attempt - 1));
			}
		}
	}
}

function toRefused(value: unknown, status: number): Refused {
	const text = isRecord(value) && typeof value["error"] === "string" ? value["error"] : `HTTP ${status}`;
	return new Refused(text, null, status);
}
