// Sends batches of lines over one connection of Meerkat RPC and compares the responses with what the oracle says.
import { isRecord } from "../../../src/base/json.ts";
import type { FuzzLine } from "../fuzz/fuzz-lines.ts";
import { readLine } from "../fuzz/fuzz-oracle.ts";
import { show, splitLines, withPatience } from "../fuzz/fuzz-run.ts";
import type { LineTarget } from "../fuzz/fuzz-target.ts";
import type { Random } from "../random.ts";
import { createOracleState, type Expected, errorNumbers, type OracleState, predict } from "./fuzz-oracle.ts";

export interface BatchReport {
	readonly lines: number;
	/** What the responses were: `result`, or the name of an error. */
	readonly outcomes: readonly string[];
	readonly events: number;
	readonly findings: readonly string[];
	/** Milliseconds from the end of writing to the last response. */
	readonly took: number;
}

/** A response as it came. */
interface Found {
	readonly id: string;
	/** `result`, or the name of an error. */
	readonly outcome: string;
	readonly message: Readonly<Record<string, unknown>>;
}

const idText = /^\{"jsonrpc":"2\.0","id":("[^"\\]*(?:\\.[^"\\]*)*"|-?\d+|null),"(?:result|error)":/;
const eventTypes = new Set([
	...["run_started", "run_completed", "run_failed", "turn_started", "turn_completed", "text_delta", "text_complete"],
	...["reasoning_delta", "retrying"],
]);

export class MeerkatFuzz {
	readonly #target: LineTarget;
	readonly #state: OracleState = createOracleState();
	#checks = 0;
	#events = 0;

	constructor(target: LineTarget) {
		this.#target = target;
	}

	/** Sessions that are there, the latest first. */
	sessions(): readonly string[] {
		return [...this.#state.sessions].flatMap(([id, isThere]) => (isThere ? [id] : [])).reverse();
	}

	/** Sends the lines, in pieces when asked to, and waits for what they bring about. */
	async runBatch(lines: readonly FuzzLine[], pieces: Random | null): Promise<BatchReport> {
		const findings: string[] = [];
		const wasContract = this.#state.isContract;
		const eventsBefore = this.#events;
		this.#state.turns.clear();
		const expected: Expected[] = [];
		for (const { bytes, isJson } of lines) {
			if (isJson !== null && (readLine(bytes).value !== undefined) !== isJson) {
				findings.push(`the verdict on this line as JSON is wrong: ${show(bytes)}`);
			}
			for (const line of splitLines(bytes)) {
				const prediction = predict(line, this.#state);
				if (prediction !== null) expected.push(prediction);
			}
		}
		await this.#write(Buffer.concat(lines.flatMap(({ bytes }) => [bytes, newline])), pieces);
		const written = performance.now();
		const found: Found[] = [];
		const isGone = await this.#gather(found, expected.length, findings);
		const took = performance.now() - written;
		if (!isGone) await this.#check(found, findings);
		findings.push(...this.#compare(expected, found, wasContract));
		const outcomes = found.map(({ outcome }) => outcome);
		return { lines: lines.length, outcomes, events: this.#events - eventsBefore, findings, took };
	}

	/** A session that is made and answers; for the end of a connection. */
	async runOnceMore(): Promise<readonly string[]> {
		const text = '{"jsonrpc":"2.0","id":"good","method":"session/create","params":{"prompt":"Once more.","model":"m"}}';
		const { findings } = await this.runBatch([{ bytes: Buffer.from(text), isJson: true }], null);
		return findings.map((finding) => `at the end: ${finding}`);
	}

	async #write(bytes: Buffer, pieces: Random | null): Promise<void> {
		if (pieces === null) return await this.#target.write(bytes);
		const isSingle = pieces.chance(50);
		for (let start = 0; start < bytes.length; ) {
			const end = start + (isSingle ? 1 : 1 + pieces.below(200));
			await this.#target.write(bytes.subarray(start, end));
			start = end;
		}
	}

	/** Reads until that many responses are there; true when no more will come. */
	async #gather(found: Found[], count: number, findings: string[]): Promise<boolean> {
		while (found.length < count) {
			const line = await withPatience(this.#target.read(), this.#target.patience);
			if (line === undefined || line === null) {
				findings.push(line === null ? "the server is gone" : "a response does not come");
				return true;
			}
			const response = this.#read(line, findings);
			if (response !== null) found.push(response);
		}
		return false;
	}

	/** Asks for the list: what else came before it was too much, and it has to have the sessions that are there. */
	async #check(found: Found[], findings: string[]): Promise<void> {
		await this.#target.rest();
		this.#checks += 1;
		const id = `"check-${this.#checks}"`;
		const text = `{"jsonrpc":"2.0","id":${id},"method":"session/list","params":{"limit":1000}}\n`;
		await this.#target.write(Buffer.from(text));
		const isCheck = (response: Found) => response.id === id;
		while (!found.some(isCheck)) {
			if (await this.#gather(found, found.length + 1, findings)) return;
		}
		const [list] = found.splice(found.findIndex(isCheck), 1);
		for (const { message } of found) this.#learn(message["result"]);
		const result = isRecord(list?.message["result"]) ? list.message["result"] : {};
		const listed = (Array.isArray(result["sessions"]) ? result["sessions"] : []).map((entry: unknown) =>
			isRecord(entry) ? String(entry["session_id"]) : "",
		);
		const there = this.sessions();
		const isSame = listed.length === there.length && there.every((each) => listed.includes(each));
		if (!isSame) findings.push(`the list has ${listed.length} sessions, ${there.length} are there`);
	}

	#learn(result: unknown): void {
		if (!isRecord(result) || typeof result["session_id"] !== "string") return;
		const { session_id: id } = result;
		if (!this.#state.sessions.has(id)) this.#state.sessions.set(id, true);
	}

	/** A response; null for an event. */
	#read(line: string, findings: string[]): Found | null {
		const message: unknown = parse(line);
		if (!isRecord(message) || /[\u2028\u2029]/.test(line)) {
			findings.push(`an unusable line: ${line.slice(0, 300)}`);
			return null;
		}
		if ("method" in message) {
			this.#events += 1;
			const fault = whatIsWrongWithEvent(message);
			if (fault !== null) findings.push(`${fault}: ${line.slice(0, 300)}`);
			return null;
		}
		const id = idText.exec(line)?.[1];
		const fault = id === undefined ? "no response" : whatIsWrongWithResponse(message);
		if (fault !== null) findings.push(`${fault}: ${line.slice(0, 300)}`);
		return { id: id === undefined ? "?" : canonical(id), outcome: outcomeOf(message), message };
	}

	/** Faults of the responses: each expected one must be there, and no other. */
	#compare(expected: readonly Expected[], found: readonly Found[], wasContract: boolean): readonly string[] {
		const eras = wasContract ? [1] : this.#state.isContract ? [0, 1] : [0];
		const suits = (one: Expected, other: Found): boolean =>
			one.id === other.id && one.outcomes.has(other.outcome) && isRight(one, other, eras);
		const taken = new Map<Found, Expected>();
		const place = (one: Expected, tried: Set<Found>): boolean =>
			found.some((other) => {
				if (tried.has(other) || !suits(one, other)) return false;
				tried.add(other);
				const holder = taken.get(other);
				if (holder !== undefined && !place(holder, tried)) return false;
				taken.set(other, one);
				return true;
			});
		const missing = expected.filter((one) => !place(one, new Set()));
		const surplus = found.filter((other) => !taken.has(other));
		if (missing.length === 0 && surplus.length === 0) return [];
		const wanted = missing
			.slice(0, 3)
			.map(({ id, method, outcomes }) => `${id} ${method} ${[...outcomes].join(" or ")}`);
		const had = surplus.slice(0, 3).map(({ message }) => JSON.stringify(message).slice(0, 300));
		return [`expected but missing: [${wanted.join("; ")}], not expected: [${had.join("; ")}]`];
	}
}

const newline = Buffer.from("\n");

function parse(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return undefined;
	}
}

/** Strings spelled in one way; digits as they are. */
function canonical(id: string): string {
	return id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id;
}

function outcomeOf({ error }: Readonly<Record<string, unknown>>): string {
	if (!isRecord(error)) return "result";
	return isRecord(error["data"]) ? String(error["data"]["code"]) : "an error without a name";
}

function whatIsWrongWithResponse({ result, error, ...others }: Readonly<Record<string, unknown>>): string | null {
	if (Object.keys(others).length !== 2) return "a response with more than it should have";
	if (result !== undefined) return isRecord(result) && error === undefined ? null : "a result that is no object";
	const isError = isRecord(error) && Number.isInteger(error["code"]) && typeof error["message"] === "string";
	return isError && error["message"] !== "" ? null : "an error without code or message";
}

function whatIsWrongWithEvent({ id, method, params }: Readonly<Record<string, unknown>>): string | null {
	if (method !== "session/event" || id !== undefined) return "a message that is no event";
	if (!isRecord(params) || typeof params["session_id"] !== "string" || !isRecord(params["event"])) return "no event";
	const { event } = params;
	const payload = isRecord(event["payload"]) ? event["payload"] : event;
	return eventTypes.has(String(payload["type"])) ? null : "an event of no known type";
}

/** Whether number, session and result of a response are those of what was asked. */
function isRight(
	{ method, outcomes, sessionId }: Expected,
	{ outcome, message }: Found,
	eras: readonly number[],
): boolean {
	const { error, result } = message;
	if (outcome === "result") return isRecord(result) && isResultOf(method, result, sessionId);
	if (!isRecord(error) || !outcomes.has(outcome)) return false;
	if (!eras.some((era) => errorNumbers[outcome]?.[era] === error["code"])) return false;
	const data = isRecord(error["data"]) ? error["data"] : {};
	return sessionId === null || outcome === "INVALID_PARAMS" || data["session_id"] === sessionId;
}

function isResultOf(
	method: string | null,
	result: Readonly<Record<string, unknown>>,
	sessionId: string | null,
): boolean {
	const has = (...keys: readonly string[]) => keys.every((key) => key in result);
	const isOwn = sessionId === null || result["session_id"] === sessionId;
	switch (method) {
		case "initialize":
			return has("server_info", "contract_version") && Array.isArray(result["methods"]);
		case "capabilities/get":
			return Array.isArray(result["capabilities"]);
		case "tools/register":
			return Number.isInteger(result["registered"]);
		case "session/create":
			return Object.keys(result).length === 1
				? has("session_id")
				: has("session_id", "text", "turns", "tool_calls", "usage");
		case "turn/start":
			return isOwn && has("text", "turns", "tool_calls", "usage");
		case "session/list":
			return Array.isArray(result["sessions"]);
		case "session/read":
			return isOwn && has("session_id");
		case "session/history":
			return isOwn && has("message_count") && Array.isArray(result["messages"]);
		case "session/archive":
			return result["archived"] === true;
		case "turn/interrupt":
			return result["interrupted"] === true;
		case "config/get":
		case "config/patch":
			return has("config") || has("agent", "max_tokens");
		case "config/set":
			return result["ok"] === true || has("config");
		default:
			return false;
	}
}
