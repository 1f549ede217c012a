// Sends batches of lines to a target and compares what comes back with what the oracle says.
import { isRecord } from "../../../src/base/json.ts";
import type { FuzzLine } from "./fuzz-lines.ts";
import { type OracleState, type Prediction, predict, readLine } from "./fuzz-oracle.ts";
import type { FuzzTarget, OpenTarget } from "./fuzz-target.ts";

/** Longest time for the replies to a batch of ordinary lines, in milliseconds. */
const replyLimit = 1000;
export interface BatchReport {
	readonly lines: number;
	readonly replies: number;
	readonly findings: readonly string[];
	/** Whether the target is of no more use. */
	readonly isSpoilt: boolean;
	/** Milliseconds from the end of writing to the last reply. */
	readonly took: number;
}

interface Expected {
	readonly id: string | null;
	readonly outcome: string;
}

const newline = Buffer.from("\n");
let sentinels = 0;

export class FuzzSession {
	readonly #target: FuzzTarget;
	readonly #state: OracleState = { dialect: "undecided", inTurn: false };
	/** Prompts of held turns, answered when they are let go. */
	#held: Expected[] = [];
	/** Requests of the server's answered so far. */
	#answers = 0;

	constructor(target: FuzzTarget) {
		this.#target = target;
	}

	get dialect(): OracleState["dialect"] {
		return this.#state.dialect;
	}

	/** Sends lines until one of them needs the server to rest; `lines` is asked for one after the other. */
	async runBatch(nextLine: () => FuzzLine, size: number): Promise<BatchReport> {
		const sent: Buffer[] = [];
		const findings: string[] = [];
		const expected: Expected[] = [];
		for (let rests = false; sent.length < size && !rests; ) {
			const { bytes, isJson } = nextLine();
			if (isJson !== null && (readLine(bytes).value !== undefined) !== isJson) {
				findings.push(`the verdict on this line as JSON is wrong: ${show(bytes)}`);
			}
			sent.push(bytes, newline);
			for (const line of splitLines(bytes)) {
				// A line behind one that lets the server rest would not be certain: such a noise is cut off there.
				if (rests) break;
				const prediction = predict(line, this.#state, this.#target.holdsTurns);
				rests = this.#expect(prediction, expected);
			}
		}
		return await this.#exchange(sent, expected, findings);
	}

	/** Questions and hooks of the server's that were answered, well or not. */
	get answered(): number {
		return this.#answers;
	}

	/** A prompt that works, in the dialect spoken; Kimi when there is none yet. */
	async promptOnceMore(): Promise<readonly string[]> {
		const params = { user_input: this.#target.goodInput, input: this.#target.goodInput };
		const method = this.#state.dialect === "legacy" ? "run" : "prompt";
		this.#target.release();
		await this.#target.write(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: "good", method, params })}\n`));
		const { replies } = await this.#readUntil((id) => id === "good");
		this.#target.hold();
		const { text } = replies.at(-1) ?? { text: "no reply" };
		return text.includes('"status":"finished"') ? [] : [`a good prompt does not finish: ${text.slice(0, 300)}`];
	}

	#expect(prediction: Prediction, expected: Expected[]): boolean {
		if (prediction.kind === "reply") {
			const { id, outcome } = prediction;
			if (prediction.after === "turn") this.#held.push({ id, outcome });
			else expected.push({ id, outcome });
		}
		return prediction.after === "rest";
	}

	async #exchange(sent: readonly Buffer[], expected: Expected[], findings: string[]): Promise<BatchReport> {
		sentinels += 1;
		const sentinel = `sentinel-${sentinels}`;
		const bytes = Buffer.concat([...sent, Buffer.from(`{"jsonrpc":"2.0","id":"${sentinel}","method":"sentinel"}\n`)]);
		await this.#target.write(bytes);
		const written = performance.now();
		// Turns that ended with this batch, or are let go behind it, owe their replies.
		const isOver = !this.#state.inTurn;
		if (isOver) expected.push(...this.#held.splice(0));
		const awaited = new Set(expected.map(({ id }) => id));
		const found: Expected[] = [];
		let isSentinelSeen = false;
		let isGone = false;
		while (!isSentinelSeen || found.length < expected.length) {
			const { replies, ended } = await this.#readUntil((id) => id === sentinel || awaited.has(id));
			for (const reply of replies) {
				if (reply.id === sentinel) isSentinelSeen = true;
				else found.push(reply);
			}
			isGone = ended !== null;
			if (ended !== null) findings.push(ended);
			if (isGone) break;
			if (isSentinelSeen && found.length < expected.length) await this.#target.rest();
		}
		await this.#target.rest();
		const took = performance.now() - written;
		const difference = compare(expected, found);
		if (difference !== null) findings.push(difference);
		if (took > replyLimit && bytes.length < 1_000_000) findings.push(`the replies took ${Math.round(took)} ms`);
		return { lines: sent.length / 2, replies: found.length, findings, isSpoilt: isGone || difference !== null, took };
	}

	/** Reads up to a reply that `isLast` knows. `ended` says why there is none. */
	async #readUntil(
		isLast: (id: string | null) => boolean,
	): Promise<{ replies: (Expected & { text: string })[]; ended: string | null }> {
		const replies: (Expected & { text: string })[] = [];
		while (true) {
			const line = await withPatience(this.#target.read(), this.#target.patience);
			if (line === undefined) return { replies, ended: "a reply does not come" };
			if (line === null) return { replies, ended: "the server is gone" };
			const message: unknown = JSON.parse(line);
			if (!isRecord(message) || line.includes("\u2028")) return { replies, ended: `an unusable line: ${line}` };
			if ("method" in message) {
				await this.#answer(message);
				continue;
			}
			const id = typeof message["id"] === "string" ? message["id"] : null;
			replies.push({ id, outcome: outcomeOf(message), text: line });
			if (isLast(id)) return { replies, ended: null };
		}
	}

	/** Answers what the server asks, well or not: every answer ends the request. */
	async #answer({ method, id, params }: Record<string, unknown>): Promise<void> {
		if (method !== "request" || typeof id !== "string" || !isRecord(params) || !isRecord(params["payload"])) return;
		const replies = toReplies(id, params["type"], params["payload"]["event"]);
		this.#answers += 1;
		const reply = replies[this.#answers % Math.max(1, replies.length)];
		if (reply !== undefined)
			await this.#target.write(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`));
	}

	/** Lets held turns end; their replies are due. */
	async release(): Promise<readonly string[]> {
		if (!this.#state.inTurn) return [];
		this.#state.inTurn = false;
		const expected = this.#held.splice(0);
		const found: Expected[] = [];
		this.#target.release();
		while (found.length < expected.length) {
			const { replies, ended } = await this.#readUntil(() => true);
			found.push(...replies);
			if (ended !== null) return [ended];
		}
		this.#target.hold();
		await this.#target.rest();
		const difference = compare(expected, found);
		return difference === null ? [] : [difference];
	}
}

/** Replies to a question or a hook: a prompt is never blocked, so that its turn is there as the oracle says. */
function toReplies(id: string, type: unknown, event: unknown): readonly Record<string, unknown>[] {
	const bad = [
		{ result: null },
		{ result: {} },
		{ result: [] },
		{ result: { request_id: 1 } },
		{ error: { code: -32000, message: "cannot" } },
		{ error: { code: "5", message: "" } },
	];
	const answered = (fields: object) => ({ result: { request_id: id, ...fields } });
	if (type === "QuestionRequest") {
		const answers: readonly unknown[] = [
			{},
			{ "Which way?": "Left" },
			{ "Which way?": ["Left"] },
			{ "": "" },
			[],
			null,
			"x",
		];
		return [...bad, ...answers.map((value) => answered({ answers: value }))];
	}
	if (type !== "HookRequest") return [];
	const allowing = [
		{},
		{ action: "allow" },
		{ action: "deny" },
		{ action: null },
		{ action: "block", reason: 1 },
		{ more: 1 },
	];
	const blocking = event === "UserPromptSubmit" ? [] : [{ action: "block" }, { action: "block", reason: "Go on." }];
	return [...bad, ...[...allowing, ...blocking].map(answered)];
}

function outcomeOf(message: Record<string, unknown>): string {
	const { error } = message;
	return isRecord(error) ? `${String(error["code"])} ${String(error["message"])}` : "result";
}

/** What is missing and what is too much; null when all is as expected. */
function compare(expected: readonly Expected[], found: readonly Expected[]): string | null {
	const left = [...found];
	const missing: Expected[] = [];
	const strictFirst = [...expected].sort((one, other) => Number(one.outcome === "*") - Number(other.outcome === "*"));
	for (const { id, outcome } of strictFirst) {
		const index = left.findIndex((each) => each.id === id && (outcome === "*" || each.outcome === outcome));
		if (index === -1) missing.push({ id, outcome });
		else left.splice(index, 1);
	}
	if (missing.length === 0 && left.length === 0) return null;
	const list = (items: readonly Expected[]) =>
		items
			.slice(0, 3)
			.map(({ id, outcome }) => `${JSON.stringify(id)} ${outcome.slice(0, 80)}`)
			.join("; ");
	return `expected but missing: [${list(missing)}], not expected: [${list(left)}]`;
}

/** What the promise gives, or undefined after that many milliseconds. */
export function withPatience<T>(promise: Promise<T>, patience: number): Promise<T | undefined> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => resolve(undefined), patience);
		promise.then(
			(value) => {
				clearTimeout(timer);
				resolve(value);
			},
			(thrown: unknown) => {
				clearTimeout(timer);
				reject(thrown);
			},
		);
	});
}

export function splitLines(bytes: Buffer): Buffer[] {
	const lines: Buffer[] = [];
	let start = 0;
	for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
		lines.push(bytes.subarray(start, end));
		start = end + 1;
	}
	lines.push(bytes.subarray(start));
	return lines;
}

export function show(bytes: Buffer): string {
	const text = bytes.toString("utf8");
	const shown = text.length > 300 ? `${text.slice(0, 200)}… (${bytes.length} bytes) …${text.slice(-60)}` : text;
	return Buffer.from(text).equals(bytes) ? JSON.stringify(shown) : `hex ${bytes.subarray(0, 100).toString("hex")}`;
}

/** The first lines that alone, behind an opening that chooses the dialect, bring about a difference. */
export async function narrowDown(
	open: OpenTarget,
	lines: readonly FuzzLine[],
	dialect: OracleState["dialect"],
): Promise<readonly string[]> {
	const culprits: string[] = [];
	for (const line of lines) {
		const target = await open();
		const session = new FuzzSession(target);
		const opening = openings[dialect];
		if (opening !== null) await session.runBatch(() => opening, 1);
		const { findings } = await session.runBatch(() => line, 1);
		if (findings.length > 0) culprits.push(`${dialect}: ${show(line.bytes)}: ${findings.join(", ")}`);
		await target.close();
		if (culprits.length >= 3) break;
	}
	return culprits;
}

const openings: Readonly<Record<OracleState["dialect"], FuzzLine | null>> = {
	undecided: null,
	kimi: { bytes: Buffer.from('{"jsonrpc":"2.0","id":"o","method":"cancel"}'), isJson: true },
	legacy: { bytes: Buffer.from('{"jsonrpc":"2.0","id":"o","method":"interrupt"}'), isJson: true },
};

/** The line that makes a new connection speak a dialect; null to leave it undecided. */
export function openingOf(dialect: OracleState["dialect"]): FuzzLine | null {
	return openings[dialect];
}
