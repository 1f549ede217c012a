// Typed requests of a front end to a remote kernel. Once the connection is lost, every request fails, including pending ones.
import * as v from "valibot";
import { aborted } from "../base/abort.ts";
import { createDeferred, type Deferred } from "../base/deferred.ts";
import { KernelError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Connection } from "../ports/rpc/connection.ts";
import type { LineTransport } from "../ports/rpc/transport.ts";
import { closeInTime } from "./closing.ts";
import {
	fromErrorObject,
	isConnectionEnded,
	type NotificationName,
	type NotificationParams,
	type Params,
	type RequestName,
	type Result,
	remoteRules,
	requests,
} from "./protocol.ts";

/** The kernel sends us no requests. */
const noMethods = { rules: remoteRules, methods: new Map() };

export class Caller {
	readonly #transport: LineTransport;
	readonly #connection: Connection;
	readonly #lost = new AbortController();
	readonly #waiting = new Set<Deferred<unknown>>();
	#ids = 0;

	constructor(transport: LineTransport, log: Log) {
		this.#transport = transport;
		this.#connection = new Connection(transport, {
			undecided: () => noMethods,
			choose: () => noMethods,
			maximumInFlight: 1,
			log,
			// It may have answered any request, or refused one that was too long.
			onUnusable: () =>
				this.#lose("The kernel and this program sent each other a line that is too long, or none of theirs."),
		});
		void Promise.race([this.#connection.serve(), aborted(transport.gone)]).then(() => this.#lose());
	}

	get lost(): AbortSignal {
		return this.#lost.signal;
	}

	/** Fails with the peer's KernelError, or with `closed` when the connection is lost. */
	async request<N extends RequestName>(name: N, params: Params<N>): Promise<Result<N>> {
		const result = await this.#send(name, params);
		return read(name, requests[name].result, result);
	}

	notify<N extends NotificationName>(name: N, params: NotificationParams<N>): void {
		this.#connection.notify(name, params);
	}

	/** Ends the connection after sent data is on its way. Pending requests fail immediately. */
	async close(reason = "The connection to the kernel was closed."): Promise<void> {
		this.#fail(new KernelError("closed", reason));
		await closeInTime(this.#transport);
	}

	#send(name: RequestName, params: unknown): Promise<unknown> {
		if (this.#lost.signal.aborted) return Promise.reject(this.#lost.signal.reason);
		const answer = createDeferred<unknown>();
		this.#ids += 1;
		this.#connection.call(String(this.#ids), name, params, (reply) => {
			this.#waiting.delete(answer);
			if (reply.kind === "result") answer.resolve(reply.result);
			else answer.reject(this.#toFailure(fromErrorObject(reply.error)));
		});
		this.#waiting.add(answer);
		return answer.promise;
	}

	/** An error that announces the end of the connection counts as its loss. */
	#toFailure(error: KernelError): unknown {
		if (!isConnectionEnded(error)) return error;
		this.#lose(error.message);
		return this.#lost.signal.reason;
	}

	#lose(reason = "The connection to the kernel is lost."): void {
		if (this.#lost.signal.aborted) return;
		this.#fail(new KernelError("closed", reason));
		this.#transport.close();
	}

	#fail(reason: KernelError): void {
		if (this.#lost.signal.aborted) return;
		this.#lost.abort(reason);
		for (const answer of this.#waiting) answer.reject(reason);
		this.#waiting.clear();
	}
}

/** Validates the value. Fails with `internal` on a mismatch: the peer then has another version. */
export function read<S extends v.GenericSchema>(name: string, schema: S, value: unknown): v.InferOutput<S> {
	const parsed = v.safeParse(schema, value);
	if (parsed.success) return parsed.output;
	const [issue] = parsed.issues;
	const place = v.getDotPath(issue) ?? "the value";
	throw new KernelError(
		"internal",
		`The kernel's answer to ${name} cannot be used: ${place} must be ${issue.expected}.`,
	);
}
