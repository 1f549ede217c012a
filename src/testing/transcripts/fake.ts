// Plays one conversation of a transcript as the server: speaks its lines and waits where it waits for the client.
import { createHash } from "node:crypto";
import { isRecord } from "../../base/json.ts";
import type { Move } from "./format.ts";
import type { Freedom } from "./freedom.ts";
import { MessageMatcher, parseJson, parseTemplate } from "./messages.ts";
import { createBindings } from "./placeholders.ts";

export interface FakeClient {
	read(): Promise<string | null>;
	send(line: string): void;
}

export interface FakeOptions {
	readonly freedom: Freedom;
	readonly isStrict: boolean;
	readonly given: Readonly<Record<string, string>>;
	readonly workDir: string;
}

/** Members that identify a client and may always differ. */
const clientMembers = new Set([
	...["id", "jsonrpc", "client", "clientInfo", "clientCapabilities", "capabilities", "_meta"],
	...["protocol_version", "protocolVersion"],
]);

export class FakeServer {
	readonly #client: FakeClient;
	readonly #options: FakeOptions;
	readonly #matcher: MessageMatcher;
	/** By the transcript's request ids as JSON: the client's. */
	readonly #ids = new Map<string, unknown>();

	constructor(client: FakeClient, options: FakeOptions) {
		this.#client = client;
		this.#options = options;
		const make = (name: string) => (name === "work-dir" ? options.workDir : makeValue(name));
		const bindings = createBindings(options.given, { anyIds: true, make });
		this.#matcher = new MessageMatcher(bindings, { freeMembers: clientMembers, isComplete: true });
	}

	/** Null at the end, or a text with the first difference in strict mode. */
	async serve(moves: readonly Move[]): Promise<string | null> {
		for (const move of moves) {
			const difference = await this.#run(move);
			if (difference !== null) return difference;
		}
		return moves.some(({ kind }) => kind === "close-input") ? null : this.#waitForEnd(moves.at(-1)?.line ?? 0);
	}

	async #run(move: Move): Promise<string | null> {
		switch (move.kind) {
			case "send":
				return this.#expect(move.line, Buffer.from(move.bytes, "latin1").toString("utf8").trimEnd());
			case "receive":
				this.#speak(move.text);
				return null;
			case "unordered":
				for (const text of move.chains.flat()) this.#speak(text);
				return null;
			case "close-input":
				return this.#waitForEnd(move.line);
			// Effects of models, commands and the process are in the transcript's lines.
			case "nothing":
			case "until-file":
			case "open-gate":
			case "exit":
				return null;
		}
	}

	#speak(text: string): void {
		const template = parseTemplate(text);
		if (!isRecord(template)) throw new Error(`This server line is not a message: ${text}`);
		// No valid value can replace this placeholder; optional messages are omitted.
		if (/:<any>/.test(text) && this.#options.freedom.isOptional(this.#options.freedom.nameOf(template))) return;
		const message = this.#matcher.fill(template);
		if (!isRecord(message)) return;
		const isReply = !("method" in message) && "id" in message;
		const id = isReply ? this.#ids.get(JSON.stringify(message["id"])) : undefined;
		this.#client.send(JSON.stringify(id === undefined ? message : { ...message, id }));
	}

	/** Waits for a client message, or for the client's end if none is expected. */
	async #expect(line: number, text: string): Promise<string | null> {
		const expected = parseTemplate(text);
		for (;;) {
			const received = await this.#client.read();
			const difference = this.#differenceOf(expected, received);
			if (difference === null && isRecord(expected)) {
				const message = received === null ? undefined : parseJson(received);
				if ("method" in expected && isRecord(message)) this.#ids.set(JSON.stringify(expected["id"]), message["id"]);
				return null;
			}
			if (this.#options.isStrict || received === null) {
				return `line ${line}: ${difference}\nexpected: ${text}\nreceived: ${received ?? "the end of the input"}`;
			}
			this.#refuse(received, `The transcript waits for ${describe(expected)} (line ${line}).`);
		}
	}

	/** Null for the awaited method or reply; in strict mode the content must match too. */
	#differenceOf(expected: unknown, received: string | null): string | null {
		if (received === null) return "the client ended its input";
		const actual = parseJson(received);
		if (!isRecord(expected) || !isRecord(actual)) return "the client sent a line that is not a message";
		const isReply = !("method" in expected);
		const isSame = isReply
			? !("method" in actual) && JSON.stringify(this.#matcher.fill(expected["id"])) === JSON.stringify(actual["id"])
			: expected["method"] === actual["method"] && "id" in expected === "id" in actual;
		if (!isSame) return `expected ${describe(this.#matcher.fill(expected))}, not ${describe(actual)}`;
		const difference = this.#matcher.differenceOf(expected, actual);
		return this.#options.isStrict ? difference : null;
	}

	async #waitForEnd(line: number): Promise<string | null> {
		for (;;) {
			const received = await this.#client.read();
			if (received === null) return null;
			if (this.#options.isStrict)
				return `line ${line}: the transcript is over, and the client goes on\nexpected: the end of the input\nreceived: ${received}`;
			this.#refuse(received, "The transcript is over.");
		}
	}

	/** Answers an unexpected request; ignores everything else. */
	#refuse(received: string, message: string): void {
		const request = parseJson(received);
		if (!isRecord(request) || !("method" in request) || !("id" in request)) return;
		const error = { code: -32601, message };
		this.#client.send(JSON.stringify({ jsonrpc: "2.0", id: request["id"], error }));
	}
}

function describe(message: unknown): string {
	if (!isRecord(message)) return "no message";
	if (typeof message["method"] === "string") return message["method"];
	return `a reply to ${JSON.stringify(message["id"])}`;
}

/** The same value in every run, so that a later conversation can continue an earlier one. */
function makeValue(name: string): string {
	const [kind = ""] = name.split(":");
	if (kind === "float") return /^float:(.+)\.\./.exec(name)?.[1] ?? "1";
	const digits = createHash("sha256").update(name).digest("hex");
	const [, length] = /^hex(\d+)$/.exec(kind) ?? [];
	if (length !== undefined) return digits.slice(0, Number(length));
	const [, version = "4"] = /^uuid(\d?)$/.exec(kind) ?? [];
	if (!kind.startsWith("uuid")) return kind;
	return [
		digits.slice(0, 8),
		digits.slice(8, 12),
		`${version || "4"}${digits.slice(12, 15)}`,
		`8${digits.slice(15, 18)}`,
		digits.slice(18, 30),
	].join("-");
}
