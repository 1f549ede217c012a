// The client of an interleaving over many sessions: sends, reads, and keeps the transcript of both directions.
import { isRecord } from "../../../src/base/json.ts";
import type { MemoryClient } from "../../../src/transports/memory.ts";
import { LivenessWitness } from "../liveness/liveness-witness.ts";
import type { AnswerKind } from "./liveness-actions.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A request the client sent. */
export interface Sent {
	readonly id: number;
	readonly method: string;
	/** The session it is about; null where it is about none, or about one that is made by it. */
	readonly sessionId: string | null;
	/** What a run is asked; each is asked once. */
	readonly prompt: string | null;
	/** Index into the transcript. */
	readonly at: number;
	/** Whether the server was at rest and nothing unread when it was sent. */
	readonly atRest: boolean;
	response: { readonly at: number; readonly message: Fields } | null;
}

/** A request of the server's, and what the client did about it. */
export interface ServerInteraction {
	readonly id: string;
	readonly method: string;
	readonly sessionId: string;
	readonly toolUseId: string;
	readonly params: Fields;
	readonly at: number;
	answer: { readonly how: AnswerKind; readonly at: number } | null;
}

/** An event as the first protocol has it. */
export interface DeliveredEvent {
	readonly at: number;
	readonly sessionId: string;
	readonly type: string;
	readonly event: Fields;
}

/** A session in the order of making; its id is null until the client was told it. */
export interface Slot {
	readonly model: string;
	readonly createId: number;
	sessionId: string | null;
}

/** Answers that are none: the request stays open. */
const ignoredAnswers: ReadonlySet<AnswerKind> = new Set(["other-id", "no-result"]);

export class HostedClient extends LivenessWitness {
	readonly sent: Sent[] = [];
	readonly interactions: ServerInteraction[] = [];
	readonly events: DeliveredEvent[] = [];
	readonly slots: Slot[] = [];
	/** What no protocol allows. */
	readonly faults: string[] = [];
	isGone = false;
	/** Where in the transcript time last passed. */
	timePassedAt = 0;

	constructor(wire: MemoryClient) {
		super(wire);
		void this.#read();
	}

	request(method: string, params: Fields): Sent {
		const { session_id: sessionId, prompt } = params;
		const sent: Sent = {
			id: this.sent.length + 1,
			method,
			sessionId: typeof sessionId === "string" ? sessionId : null,
			prompt: typeof prompt === "string" && params["initial_turn"] === undefined ? prompt : null,
			at: this.transcript.length,
			atRest: this.isQuiet,
			response: null,
		};
		this.sent.push(sent);
		this.#write({ jsonrpc: "2.0", id: sent.id, method, params });
		return sent;
	}

	unanswered(): readonly Sent[] {
		return this.sent.filter(({ response }) => response === null);
	}

	/** Runs that were asked for and not answered, of one session or of all. */
	runs(sessionId: string | null = null): readonly Sent[] {
		return this.unanswered().filter(
			(sent) => sent.prompt !== null && (sessionId === null || this.sessionOf(sent) === sessionId),
		);
	}

	/** The session a request is about, also of one that made it. */
	sessionOf({ id, sessionId }: Sent): string | null {
		return sessionId ?? this.slots.find(({ createId }) => createId === id)?.sessionId ?? null;
	}

	/** Requests of the server's that nobody answered, and whose run goes on as far as was read. */
	openInteractions(): readonly ServerInteraction[] {
		return this.interactions.filter((interaction) => interaction.answer === null && !this.#isOver(interaction));
	}

	closedInteractions(): readonly ServerInteraction[] {
		return this.interactions.filter((interaction) => interaction.answer !== null || this.#isOver(interaction));
	}

	answer(interaction: ServerInteraction, how: AnswerKind): void {
		if (!ignoredAnswers.has(how)) interaction.answer ??= { how, at: this.transcript.length };
		this.#write(toReply(interaction, how));
	}

	#isOver({ sessionId, at }: ServerInteraction): boolean {
		return this.events.some(
			(event) => event.at > at && event.sessionId === sessionId && /^run_(?:completed|failed)$/.test(event.type),
		);
	}

	#write(message: Fields): void {
		const text = JSON.stringify(message);
		this.transcript.push({ from: "client", message, text });
		this.wire.write(`${text}\n`);
	}

	async #read(): Promise<void> {
		for (let line = await this.wire.read(); line !== null; line = await this.wire.read()) {
			this.received += 1;
			const message: unknown = JSON.parse(line);
			const at = this.transcript.length;
			if (!isRecord(message)) {
				this.faults.push(`no message: ${line}`);
				continue;
			}
			this.transcript.push({ from: "server", message, text: line.slice(0, 400) });
			if (!("method" in message)) this.#takeResponse(message, at);
			else if ("id" in message) this.#takeInteraction(message, at);
			else this.#takeEvent(message, at);
		}
	}

	#takeResponse(message: Fields, at: number): void {
		const sent = this.sent.find(({ id }) => id === message["id"]);
		if (sent === undefined || sent.response !== null) {
			this.faults.push(`a response to nothing: ${JSON.stringify(message)}`);
			return;
		}
		sent.response = { at, message };
		const { result } = message;
		if (sent.method === "session/create" && isRecord(result)) this.#learn(sent.id, String(result["session_id"]));
	}

	#takeInteraction({ id, method, params }: Fields, at: number): void {
		const fields = isRecord(params) ? params : {};
		this.interactions.push({
			id: String(id),
			method: String(method),
			sessionId: String(fields["session_id"]),
			toolUseId: String(fields["tool_use_id"]),
			params: fields,
			at,
			answer: null,
		});
	}

	#takeEvent({ params }: Fields, at: number): void {
		const fields = isRecord(params) ? params : {};
		const delivered = isRecord(fields["event"]) ? fields["event"] : {};
		const event = isRecord(delivered["payload"]) ? delivered["payload"] : delivered;
		const sessionId = String(fields["session_id"]);
		const type = String(event["type"]);
		this.events.push({ at, sessionId, type, event });
		if (type !== "run_started") return;
		const creating = this.sent.find(({ method, prompt }) => method === "session/create" && prompt === event["prompt"]);
		if (creating !== undefined) this.#learn(creating.id, sessionId);
	}

	#learn(createId: number, sessionId: string): void {
		const slot = this.slots.find((each) => each.createId === createId);
		if (slot === undefined) return;
		if ((slot.sessionId ?? sessionId) !== sessionId) this.faults.push(`a session has two ids: ${sessionId}`);
		slot.sessionId = sessionId;
	}
}

function toReply({ id, method, params }: ServerInteraction, how: AnswerKind): Fields {
	const result = (value: unknown) => ({ jsonrpc: "2.0", id, result: value });
	switch (how) {
		case "yes":
		case "for-session":
		case "no":
			return result(toResult(method, params, how));
		case "wrong":
			return result({ decision: "maybe", answers: [], content: 5 });
		case "null":
			return result(null);
		case "error":
			return { jsonrpc: "2.0", id, error: { code: -32000, message: "cannot" } };
		case "other-id":
			return { ...result(toResult(method, params, "yes")), id: `${id}-other` };
		case "no-result":
			return { jsonrpc: "2.0", id, method: null, result: undefined, error: null };
	}
}

function toResult(method: string, params: Fields, how: "yes" | "for-session" | "no"): Fields {
	switch (method) {
		case "approval/request":
			if (how === "no") return { decision: "reject", feedback: "Not like this." };
			return { decision: how === "yes" ? "approve" : "approve_for_session" };
		case "question/request": {
			const [first]: unknown[] = Array.isArray(params["questions"]) ? params["questions"] : [];
			return { answers: how === "no" || !isRecord(first) ? {} : { [String(first["question"])]: "Left" } };
		}
		default:
			return how === "yes"
				? { content: "painted" }
				: { content: [{ type: "text", text: "no" }], is_error: how === "no" };
	}
}
