// Tracks requests that await answers, to find the request that a malformed message answers.
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";

export class OpenRequests {
	readonly #methods = new Map<RequestId, string>();
	readonly #givenUp = new Set<RequestId>();
	readonly #whole: OpenRequests | null;
	#lastAnswer = "";

	constructor(whole: OpenRequests | null = null) {
		this.#whole = whole;
	}

	/** Whether these are the requests of one HTTP exchange, which receive everything it returns. */
	get isExchange(): boolean {
		return this.#whole !== null;
	}

	sent(message: JSONRPCMessage): void {
		if (!("method" in message)) return;
		if ("id" in message) this.#methods.set(message.id, message.method);
		else if (message.method === "notifications/cancelled") {
			const id = toId(message.params?.["requestId"]);
			if (id !== null && this.#methods.delete(id)) this.#givenUp.add(id);
		}
	}

	answered(id: RequestId, text: string): void {
		this.#methods.delete(id);
		this.#lastAnswer = text;
		this.#whole?.answered(id, text);
	}

	/** Whether an answer repeats the last one: some servers also log what they send. */
	isRepeated(id: unknown, text: string): boolean {
		return toId(id) !== null && !this.has(id) && text === this.#lastAnswer;
	}

	has(id: unknown): boolean {
		return this.methodOf(id) !== null;
	}

	methodOf(id: unknown): string | null {
		const known = toId(id);
		return known === null ? null : (this.#methods.get(known) ?? null);
	}

	/** The only open request; null for none or several. */
	sole(): RequestId | null {
		const [first, second] = this.#methods.keys();
		return first === undefined || second !== undefined ? null : first;
	}

	/** The only open request, unless the id names another. Null if late or ambiguous. */
	answeredBy(id: unknown): RequestId | null {
		const known = toId(id);
		if (known !== null && this.#methods.has(known)) return known;
		return known !== null && this.#givenUp.delete(known) ? null : this.sole();
	}

	only(id: RequestId): OpenRequests {
		const part = new OpenRequests(this);
		const method = this.#methods.get(id);
		if (method !== undefined) part.#methods.set(id, method);
		return part;
	}
}

/** Some servers return numeric ids as text. */
function toId(id: unknown): RequestId | null {
	if (typeof id === "number") return id;
	if (typeof id !== "string") return null;
	return /^\d+$/.test(id) ? Number(id) : id;
}
