// What belongs to each line that a client wrote: its answers, and the events of the runs that it started.
import { at, type Line, type Value } from "./recording.ts";

export interface Exchange {
	/** The place of the client's line among all of its lines. */
	readonly index: number;
	/** Null for a line that is not a JSON object, or none that can be parsed. */
	readonly line: Line | null;
	readonly answers: Line[];
	/** What `session/event` carried, in order. */
	readonly events: Value[];
	/** The session that it made or used. */
	session: string | null;
	hasRun: boolean;
}

const starts: ReadonlySet<Value> = new Set(["session/create", "turn/start"]);
const lasts: ReadonlySet<Value> = new Set(["run_completed", "run_failed"]);

export class Exchanges {
	readonly all: Exchange[] = [];
	/** Requests of the server to the client. */
	readonly requests: Line[] = [];
	/** Notifications of subscriptions. */
	readonly streamed: Value[] = [];
	#begun = 0;
	readonly #running = new Map<string, Exchange>();
	/** Events between two runs, by session: they belong to the next. */
	readonly #early = new Map<string, Value[]>();

	/** Another process begins: what was not answered never will be. */
	begin(): void {
		this.#begun = this.all.length;
		this.#running.clear();
	}

	sent(index: number, line: Line | null): void {
		const session = at(line ?? undefined, "params", "session_id");
		this.all.push({
			index,
			line,
			answers: [],
			events: [],
			session: typeof session === "string" ? session : null,
			hasRun: false,
		});
	}

	received(line: Line): void {
		const method = line["method"];
		if (method === "session/event") this.#addEvent(line);
		else if (method !== undefined && "id" in line) this.requests.push(line);
		else if (method !== undefined) this.streamed.push(line["params"] ?? null);
		else this.#addAnswer(line);
	}

	get(index: number): Exchange | undefined {
		return this.all.find((each) => each.index === index);
	}

	#addAnswer(line: Line): void {
		const id = JSON.stringify(line["id"] ?? null);
		const ofId = this.all
			.slice(this.#begun)
			.filter(
				({ line: request, answers }) =>
					request !== null && answers.length === 0 && JSON.stringify(request["id"] ?? null) === id,
			);
		const exchange = ofId.at(id === "null" ? -1 : 0) ?? this.all.at(-1);
		if (exchange === undefined) return;
		exchange.answers.push(line);
		const session = at(line, "result", "session_id");
		if (typeof session === "string") exchange.session ??= session;
	}

	#addEvent(line: Line): void {
		const session = String(at(line, "params", "session_id"));
		const event = at(line, "params", "event");
		const type = at(event, "payload", "type");
		if (type === "run_started") {
			const exchange = this.#starter(session, at(event, "payload", "input", "content"));
			if (exchange === undefined) return;
			exchange.session = session;
			exchange.hasRun = true;
			exchange.events.push(...(this.#early.get(session) ?? []), event);
			this.#early.delete(session);
			this.#running.set(session, exchange);
			return;
		}
		const running = this.#running.get(session);
		if (running === undefined) this.#early.set(session, [...(this.#early.get(session) ?? []), event]);
		else {
			running.events.push(event);
			if (lasts.has(type) && running.answers.length > 0) this.#running.delete(session);
		}
	}

	/** Whose run begins: of the open requests for the session one with this prompt, else the first without a run. */
	#starter(session: string, content: Value): Exchange | undefined {
		const open = this.all
			.slice(this.#begun)
			.filter(
				({ line, answers, session: own }) =>
					starts.has(at(line ?? undefined, "method")) && answers.length === 0 && (own === null || own === session),
			);
		const isPrompt = ({ line }: Exchange) =>
			JSON.stringify(at(line ?? undefined, "params", "prompt")) === JSON.stringify(content);
		return open.find((each) => !each.hasRun && isPrompt(each)) ?? open.find(({ hasRun }) => !hasRun) ?? open[0];
	}
}
