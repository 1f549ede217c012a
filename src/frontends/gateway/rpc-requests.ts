import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Scope } from "../../api/operations.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import { isRecord, parseJsonFile } from "../../base/json.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { envelopeErrors, toErrorObject } from "../shared/public-errors.ts";
import type { CallMethod } from "./methods.ts";
import { isMethodName, type MethodName, methods } from "./protocol.ts";
import { RepeatedRequests } from "./repeated-requests.ts";
import { sendJson } from "./replies.ts";

export interface RequestTrace {
	/** The parent span for everything it starts; null for none. */
	readonly place: string | null;
	end(error: string | null): void;
}

export interface RpcRequest {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly scope: Scope;
	readonly token: string;
	readonly body: Buffer;
}

export interface RpcRequestsOptions {
	readonly call: CallMethod;
	readonly trace?: (method: string, parent: string | null) => RequestTrace;
	noteFailure(thrown: unknown): void;
	readonly clock: Pick<Clock, "monotonic">;
}

export class RpcRequests {
	readonly #options: RpcRequestsOptions;
	readonly #repeated: RepeatedRequests;

	constructor(options: RpcRequestsOptions) {
		this.#options = options;
		this.#repeated = new RepeatedRequests(() => options.clock.monotonic());
	}

	async answer({ request, response, scope, token, body }: RpcRequest): Promise<void> {
		const { call, noteFailure } = this.#options;
		let message: unknown;
		try {
			message = parseJsonFile(body);
		} catch {
			return sendJson(response, 400, toFailure(null, envelopeErrors.parse, "The body is not JSON."));
		}
		const id = isRecord(message) ? message["id"] : null;
		const isNamed = typeof id === "string" || typeof id === "number";
		if (!isRecord(message) || message["jsonrpc"] !== "2.0" || typeof message["method"] !== "string" || !isNamed) {
			const text = "The body must be one request of JSON-RPC 2.0, with an id that is a string or a number.";
			return sendJson(response, 400, toFailure(isNamed ? id : null, envelopeErrors.invalidRequest, text));
		}
		const { method: name, params = {} } = message;
		if (typeof name !== "string" || !isMethodName(name)) {
			const text = `There is no method ${JSON.stringify(beginning(String(name), 100))}.`;
			return sendJson(response, 200, toFailure(id, envelopeErrors.unknownMethod, text));
		}
		if (methods[name].scope === "control" && scope !== "control") {
			const text = `${name} needs a control token; this one may only observe.`;
			return sendJson(response, 200, toFailure(id, envelopeErrors.forbidden, text));
		}
		const trace = this.#trace(name, request);
		try {
			const key = request.headers["idempotency-key"];
			const isRepeatable = methods[name].scope === "control" && key !== undefined;
			const turnKey = isRepeatable ? toTurnKey(token, checkKey(key)) : null;
			const work = () => call(name, params, { scope, turnKey, trace: trace?.place ?? null });
			// Includes the token, because the same key from another client is a different request.
			const result =
				turnKey === null ? await work() : await this.#repeated.once(turnKey, JSON.stringify({ name, params }), work);
			sendJson(response, 200, { jsonrpc: "2.0", id, result });
			trace?.end(null);
		} catch (thrown) {
			noteFailure(thrown);
			sendJson(response, 200, { jsonrpc: "2.0", id, error: toErrorObject(thrown) });
			trace?.end(toKernelError(thrown).code);
		}
	}

	/** Null for read-only requests, which are frequent. */
	#trace(name: MethodName, { headers }: IncomingMessage): RequestTrace | null {
		if (methods[name].scope !== "control") return null;
		const { traceparent } = headers;
		return this.#options.trace?.(name, typeof traceparent === "string" ? traceparent : null) ?? null;
	}
}

function checkKey(key: string | readonly string[]): string {
	if (typeof key === "string" && key.length > 0 && key.length <= 200) return key;
	throw new KernelError("invalid-input", "An Idempotency-Key must have 1 to 200 characters.");
}

function toTurnKey(token: string, key: string): string {
	return createHash("sha256").update(`${token} ${key}`, "utf8").digest("hex");
}

function toFailure(id: unknown, code: number, message: string): object {
	return { jsonrpc: "2.0", id, error: { code, message, data: null } };
}
