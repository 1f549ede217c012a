// Dispatches and sends messages and tracks requests to the peer. Never waits for a handler.

import type { Log } from "../../base/log.ts";
import type { Line } from "../../base/text/lines.ts";
import type { LineText } from "../../base/text/long-text.ts";
import { beginning } from "../../base/text/well-formed.ts";
import {
	type EnvelopeRules,
	type ErrorObject,
	errorLine,
	type Incoming,
	notificationLine,
	parseJsonLine,
	type RpcId,
	type RpcReply,
	readEnvelope,
	requestLine,
	resultLine,
	trimLine,
	withoutVersion,
} from "./envelope.ts";
import type { MethodCall, MethodTable } from "./methods.ts";
import type { LineTransport } from "./transport.ts";

export interface Peer {
	notify(method: string, params: unknown): void;
	notifyLine(line: string): void;
	/** Sends a request. `onReply` is called only for the first reply. */
	call(id: RpcId, method: string, params: unknown, onReply: (reply: RpcReply) => void): void;
	callUnanswered(id: RpcId, method: string, params: unknown): void;
	isWaiting(id: RpcId): boolean;
	/** Forgets a request: later replies are ignored. */
	withdraw(id: RpcId): void;
	/** Resolves while the outbox is below its limit. */
	ready(): Promise<void>;
	isFull(): boolean;
}

export interface ConnectionSettings {
	readonly rules: EnvelopeRules;
	readonly methods: MethodTable;
}

/** Inspects parsed lines until it returns settings, which then apply to that line and all later ones. */
export type Chooser = (value: unknown) => ConnectionSettings | null;

/** Maximum unusable lines logged per connection: a client may send nothing else. */
const maximumLoggedLines = 100;

/** Stands for a line that names our request without being a valid answer. */
const unreadable: RpcReply = { kind: "error", error: { code: -32600, message: "The answer is not a valid response." } };

export class Connection implements Peer {
	readonly #transport: LineTransport;
	readonly #log: Log;
	readonly #maximumInFlight: number;
	readonly #waiting = new Map<RpcId, (reply: RpcReply) => void>();
	readonly #undecided: () => ConnectionSettings;
	#chosen: ConnectionSettings | null = null;
	readonly #choose: Chooser;
	readonly #onUnusable: () => void;
	/** Requests and notifications wait for it. Null once resolved. */
	#begun: Promise<void> | null;
	#inFlight = 0;
	#unusable = 0;
	/** The answer to the last line without an id: unparsable lines rarely come alone. */
	#lastRefusal: { readonly error: ErrorObject; readonly rules: EnvelopeRules; readonly line: LineText } | null = null;
	readonly #idleWaiters: (() => void)[] = [];

	/** `undecided` serves lines until `choose` returns settings. `begun` must not reject. */
	constructor(
		transport: LineTransport,
		options: {
			undecided: () => ConnectionSettings;
			choose: Chooser;
			maximumInFlight: number;
			log: Log;
			begun?: Promise<void>;
			onUnusable?: () => void;
		},
	) {
		this.#transport = transport;
		this.#undecided = options.undecided;
		this.#choose = options.choose;
		this.#maximumInFlight = options.maximumInFlight;
		this.#log = options.log;
		this.#onUnusable = options.onUnusable ?? (() => {});
		this.#begun = options.begun === undefined ? null : this.#begin(options.begun);
	}

	async #begin(begun: Promise<void>): Promise<void> {
		await begun;
		this.#begun = null;
	}

	serve(): Promise<void> {
		return new Promise((resolve) => {
			this.#transport.receive((line) => this.#tryReceive(line), resolve);
		});
	}

	/** Resolves once no request is being handled. */
	idle(): Promise<void> {
		if (this.#inFlight === 0) return Promise.resolve();
		return new Promise((resolve) => this.#idleWaiters.push(resolve));
	}

	notify(method: string, params: unknown): void {
		this.#send(notificationLine(method, params));
	}

	notifyLine(line: string): void {
		this.#send(line);
	}

	call(id: RpcId, method: string, params: unknown, onReply: (reply: RpcReply) => void): void {
		const line = requestLine(id, method, params);
		this.#waiting.set(id, onReply);
		this.#send(line);
	}

	#send(line: LineText): void {
		const isPlain = this.#settings.rules.versionUnsent !== true;
		this.#transport.send(isPlain ? line : withoutVersion(line));
	}

	callUnanswered(id: RpcId, method: string, params: unknown): void {
		this.#send(requestLine(id, method, params));
	}

	isWaiting(id: RpcId): boolean {
		return this.#waiting.has(id);
	}

	withdraw(id: RpcId): void {
		this.#waiting.delete(id);
	}

	ready(): Promise<void> {
		return this.#transport.ready();
	}

	isFull(): boolean {
		return this.#transport.isFull();
	}

	get #settings(): ConnectionSettings {
		return this.#chosen ?? this.#undecided();
	}

	/** A bug in handling one line must not affect lines that arrived with it. */
	#tryReceive(line: Line): void {
		try {
			this.#receive(line);
		} catch (thrown) {
			this.#log.error("A line could not be handled.", { error: thrown });
			if (line.kind === "oversized") return;
			const text = trimLine(line.text);
			const incoming = readEnvelope(parseJsonLine(text), this.#settings.rules, text);
			if (incoming.kind === "request") this.#fail(incoming.id, this.#settings.rules.toErrorObject(thrown));
		}
	}

	#receive(line: Line): void {
		if (line.kind === "oversized") {
			this.#log.warn("A line over the limit was discarded.");
			this.#onUnusable();
			this.#refuse(null, this.#settings.rules.parseError);
			return;
		}
		const text = trimLine(line.text);
		if (text === "" && this.#settings.rules.blankLinesIgnored) return;
		const value = parseJsonLine(text);
		this.#chosen ??= this.#choose(value);
		this.#dispatch(readEnvelope(value, this.#settings.rules, text), text);
	}

	#dispatch(incoming: Incoming, text: string): void {
		switch (incoming.kind) {
			case "refused":
				this.#logUnusable(text);
				this.#onUnusable();
				// No other answer follows: without this the caller would wait forever.
				if (incoming.id !== undefined && this.#settle(incoming.id, unreadable)) return;
				this.#refuse(incoming.id ?? null, incoming.error);
				return;
			case "response":
				if (!this.#settle(incoming.id, incoming.reply)) {
					this.#log.debug("A reply to no open request was ignored.", { id: incoming.id });
				}
				return;
			case "request":
				this.#handleRequest(incoming.id, incoming.method, incoming.params);
				return;
			case "notification":
				this.#handleNotification(incoming.method, incoming.params);
				return;
		}
	}

	/** Passes a reply to its waiting request. Returns false without one. */
	#settle(id: RpcId, reply: RpcReply): boolean {
		const onReply = this.#waiting.get(id);
		this.#waiting.delete(id);
		onReply?.(reply);
		return onReply !== undefined;
	}

	#logUnusable(text: string): void {
		this.#unusable += 1;
		if (this.#unusable > maximumLoggedLines) return;
		const isSecret = this.#settings.rules.linesAreSecret === true;
		this.#log.warn("An incoming line was not usable.", isSecret ? {} : { line: beginning(text, 200) });
		if (this.#unusable === maximumLoggedLines) {
			this.#log.warn("Further lines that are not usable are not logged.", { logged: maximumLoggedLines });
		}
	}

	#handleRequest(id: RpcId, name: string, params: unknown): void {
		const { rules, methods } = this.#settings;
		const method = methods.get(name);
		const call = method?.actsOn === "notifications" ? undefined : method?.prepare(params);
		if (call === undefined) this.#fail(id, rules.unknownMethod(name));
		else if (typeof call !== "function") this.#fail(id, rules.invalidParams(name, call));
		else if (this.#inFlight >= this.#maximumInFlight) this.#fail(id, rules.tooManyRequests(this.#maximumInFlight));
		else {
			this.#inFlight += 1;
			void this.#run(id, call).finally(() => this.#finish());
		}
	}

	#finish(): void {
		this.#inFlight -= 1;
		if (this.#inFlight > 0) return;
		for (const waiter of this.#idleWaiters.splice(0)) waiter();
	}

	async #run(id: RpcId, call: MethodCall): Promise<void> {
		let answered = false;
		const respond = (result: unknown) => {
			if (answered) return;
			// A result that cannot be serialized is answered with an error.
			const line = resultLine(id, result);
			answered = true;
			this.#send(line);
		};
		try {
			if (this.#begun !== null) await this.#begun;
			respond(await call(respond, id));
		} catch (thrown) {
			this.#log.warn("A request failed.", { id, error: thrown });
			if (answered) return;
			answered = true;
			this.#fail(id, this.#settings.rules.toErrorObject(thrown));
		}
	}

	#handleNotification(name: string, params: unknown): void {
		const method = this.#settings.methods.get(name);
		if (method === undefined || method.actsOn === "requests") {
			this.#log.debug("A notification was ignored.", { method: name });
			return;
		}
		const call = method.prepare(params);
		if (typeof call === "function") void this.#runUnanswered(name, call);
	}

	async #runUnanswered(name: string, call: MethodCall): Promise<void> {
		try {
			if (this.#begun !== null) await this.#begun;
			await call(() => {}, null);
		} catch (thrown) {
			this.#log.warn("A notification failed.", { method: name, error: thrown });
		}
	}

	#refuse(id: RpcId | null, error: ErrorObject | null): void {
		if (error === null) return;
		if (id !== null) {
			this.#fail(id, error);
			return;
		}
		const { rules } = this.#settings;
		const last = this.#lastRefusal;
		const line = last?.error === error && last.rules === rules ? last.line : errorLine(null, error, rules);
		this.#lastRefusal = { error, rules, line };
		this.#send(line);
	}

	#fail(id: RpcId, error: ErrorObject): void {
		const { rules } = this.#settings;
		try {
			this.#send(errorLine(id, error, rules));
		} catch (thrown) {
			this.#log.error("An error could not be sent.", { id, error: thrown });
			this.#send(errorLine(id, rules.toErrorObject(thrown), rules));
		}
	}
}
