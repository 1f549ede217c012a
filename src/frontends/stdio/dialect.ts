// Each attachment is pulled with `stream.next`, so that a slow session delays no other.
import * as v from "valibot";
import { operations, publicVersion } from "../../api/operations.ts";
import { KernelError } from "../../base/errors.ts";
import type { EnvelopeRules, ParamsProblem, RpcId } from "../../ports/rpc/envelope.ts";
import { defineMethod, type Method, type MethodTable } from "../../ports/rpc/methods.ts";
import type { HostApi, HostDialect, SharedConnection } from "../shared/dialect.ts";
import { errorNumbers, toErrorObject } from "../shared/public-errors.ts";
import { toPublicEvent } from "../shared/public-event.ts";
import {
	attachPublic,
	callOperation,
	createOperationHandlers,
	isCallable,
	type OperationHandlers,
	type PublicAttachment,
	readParams,
} from "../shared/public-operations.ts";

const mostStreams = 10_000;
const batchLimit = 512;

const rules: EnvelopeRules = {
	isId: (value): value is RpcId => typeof value === "string" || Number.isSafeInteger(value),
	versionOptional: false,
	unknownKeysRefused: false,
	// Environments and headers of MCP servers contain keys.
	linesAreSecret: true,
	blankLinesIgnored: true,
	errorDataAlways: true,
	parseError: { code: -32700, message: "The line is not JSON, or too long." },
	invalidRequest: { code: -32600, message: "The line is neither a request nor an answer of JSON-RPC 2.0." },
	invalidResponse: null,
	unknownMethod: (method) => ({ code: -32601, message: `There is no method ${method}.` }),
	invalidParams: (method, problem) => ({
		code: errorNumbers["invalid-input"],
		message: `${method} cannot take these params: ${describeProblem(problem)}`,
		data: { code: "invalid-input", details: null },
	}),
	tooManyRequests: (limit) =>
		toErrorObject(new KernelError("overloaded", `More than ${limit} requests are unanswered.`)),
	toErrorObject,
};

function describeProblem(problem: ParamsProblem): string {
	return problem.kind === "missing" ? "there are none" : problem.reason;
}

/** Called where the client has no token: it started this process and may do everything. */
const origin = { scope: "control", turnKey: null, trace: null } as const;

const streamSchema = v.strictObject({ stream: v.string() });

class Stream {
	readonly attachment: PublicAttachment;
	readonly #batches: AsyncIterator<readonly unknown[]>;
	#rest: readonly unknown[] = [];

	constructor(attachment: PublicAttachment) {
		this.attachment = attachment;
		this.#batches = toPublicBatches(attachment)[Symbol.asyncIterator]();
	}

	async next(): Promise<{ readonly events: readonly unknown[]; readonly ended: boolean }> {
		while (this.#rest.length === 0) {
			const { done, value } = await this.#batches.next();
			if (done === true) return { events: [], ended: true };
			this.#rest = value;
		}
		const events = this.#rest.slice(0, batchLimit);
		this.#rest = this.#rest.slice(batchLimit);
		return { events, ended: false };
	}
}

async function* toPublicBatches({ events, wants }: PublicAttachment): AsyncGenerator<readonly unknown[]> {
	for await (const batch of events) yield batch.filter(({ body }) => wants(body.type)).map(toPublicEvent);
}

class StdioConnection implements SharedConnection {
	readonly methods: MethodTable;
	readonly #kernel: HostApi;
	readonly #handlers: OperationHandlers;
	readonly #streams = new Map<string, Stream>();
	#names = 0;
	#hasLeft = false;

	constructor(kernel: HostApi) {
		this.#kernel = kernel;
		this.#handlers = createOperationHandlers(kernel);
		const called = Object.keys(operations)
			.filter(isCallable)
			.map((name): [string, Method] => [
				name,
				toMethod((params) => callOperation(this.#handlers, name, params, origin)),
			]);
		this.methods = new Map([
			...called,
			["session.attach", toMethod((params) => this.#attach(params))],
			["stream.next", toMethod((params) => this.#next(readParams(streamSchema, params, "stream.next").stream))],
			[
				"stream.close",
				toMethod(async (params) => this.#close(readParams(streamSchema, params, "stream.close").stream)),
			],
		]);
	}

	async #attach(params: unknown): Promise<unknown> {
		if (this.#streams.size >= mostStreams) {
			throw new KernelError("overloaded", `There are ${mostStreams} open streams; close some of them.`);
		}
		const read = readParams(operations["session.attach"].params, params, "session.attach");
		const attachment = await attachPublic(this.#kernel.sessions, read, origin.scope);
		if (this.#hasLeft) attachment.close();
		this.#names += 1;
		const stream = `s${this.#names}`;
		this.#streams.set(stream, new Stream(attachment));
		return { ...attachment.state, stream };
	}

	async #next(name: string): Promise<unknown> {
		const stream = this.#streams.get(name);
		if (stream === undefined) throw new KernelError("invalid-input", `There is no open stream ${name}.`);
		const batch = await stream.next();
		if (batch.ended) this.#close(name);
		return batch;
	}

	#close(name: string): null {
		this.#streams.get(name)?.attachment.close();
		this.#streams.delete(name);
		return null;
	}

	abortPending(): void {}

	/** Pulled events are delivered at once: nothing is queued here. */
	async drained(): Promise<void> {}

	leave(): void {
		this.#hasLeft = true;
		for (const name of [...this.#streams.keys()]) this.#close(name);
	}
}

function toMethod(call: (params: unknown) => Promise<unknown>): Method {
	return defineMethod({ params: v.unknown(), result: v.unknown(), handle: (params) => call(params ?? {}) });
}

export const stdioDialect = {
	name: `agentwire-${publicVersion}`,
	rules,
	/** It is offered alone. */
	claims: () => true,
	converse: (kernel: HostApi): SharedConnection => new StdioConnection(kernel),
} satisfies HostDialect;
