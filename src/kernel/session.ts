// One session: commands in, events out, one turn at a time. Owns its stored files while it lives.

import { Context } from "../agent/context.ts";
import type { TurnDependencies, TurnLimits } from "../agent/dependencies.ts";
import { runTurn } from "../agent/turn.ts";
import type { Clock } from "../base/clock.ts";
import { KernelError, toKernelError } from "../base/errors.ts";
import type { Identifiers } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { ClientToolAsk } from "../events/ask.ts";
import type { Command, CommandType, CommandValues } from "../events/command.ts";
import { type ToolReturn, textPart, type UserInput } from "../events/content.ts";
import type { ContextRow } from "../events/conversation.ts";
import type { AgentEvent, EventBody, TurnOutcome } from "../events/event.ts";
import type { Model } from "../models/model.ts";
import type { StoredSession } from "../store/session-store.ts";
import { toTitle } from "../store/title.ts";
import type { Tool } from "../tools/tool.ts";
import { Approvals } from "./approvals.ts";
import { type AskDeadlines, AskTable } from "./asks.ts";
import { type CheckedTools, type ClientToolDeclaration, checkClientTools } from "./client-tools.ts";
import { Emitter, type Keeping } from "./emitter.ts";
import { EventFeed } from "./event-feed.ts";
import { type CrashNotice, recoverCalls } from "./recovery.ts";
import { createSteerQueue, type OpenSteerQueue } from "./steers.ts";
import { createToolBox } from "./tool-box.ts";

/** What a session is made of; `compose.ts` fills it from the configuration. */
export interface SessionParts {
	readonly stored: StoredSession;
	/** Null when none is configured; `unsetModelAlias` then names what was asked for. */
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	/** The built-in tools, in the order in which a model is offered them. */
	readonly tools: readonly Tool[];
	readonly limits: TurnLimits;
	readonly deadlines: AskDeadlines;
	readonly yolo: boolean;
	/** Renders the system prompt of a session that has none yet. */
	readonly systemPrompt: () => Promise<string>;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly random: () => number;
	readonly log: Log;
}

/** What a client brings when it attaches. */
export interface AttachOptions {
	readonly client: { readonly name: string; readonly version: string | null } | null;
	/** Its tools, as `checkTools` gave them. */
	readonly tools: ReadonlyMap<string, Tool>;
}

/** A client's hold on a session. Open asks are told again at its beginning. */
export interface Attachment {
	/** Batches of events, so that one write can serve many. Ends after `close` and when the session closes. */
	readonly events: AsyncIterable<readonly AgentEvent[]>;
	/** The client is gone. */
	close(): void;
}

export interface SessionSnapshot {
	readonly sessionId: string;
	readonly workDir: string;
	/** The running turn; null when idle. */
	readonly turnId: string | null;
	/** Whether it was there before or has had a turn. */
	readonly hasHistory: boolean;
}

interface RunningTurn {
	readonly id: string;
	readonly controller: AbortController;
	readonly steers: OpenSteerQueue;
	ended: Promise<void>;
}

interface AttachedClient {
	readonly client: AttachOptions["client"];
	readonly feed: EventFeed;
	readonly tools: ReadonlyMap<string, Tool>;
}

type EmitInTurn = (body: EventBody, keeping?: Keeping) => Promise<void> | undefined;

type CommandHandlers = {
	readonly [T in CommandType]: (command: Extract<Command, { type: T }>) => CommandValues[T];
};

const never = new AbortController().signal;

export class Session {
	readonly id: string;
	readonly workDir: string;
	readonly #parts: SessionParts;
	readonly #emitter: Emitter;
	readonly #asks: AskTable;
	readonly #approvals: Approvals;
	readonly #clients = new Set<AttachedClient>();
	readonly #handlers: CommandHandlers;
	#context: Context | null = null;
	/** What a crash left behind, for the person; told once. */
	#crashNotice: CrashNotice | null = null;
	#isRecovered = false;
	#turn: RunningTurn | null = null;
	#hadTurn = false;
	#closing = false;

	constructor(parts: SessionParts) {
		const { stored, identifiers, yolo } = parts;
		this.id = stored.id;
		this.workDir = stored.workDir;
		this.#parts = parts;
		this.#emitter = new Emitter(stored, parts.clock);
		this.#asks = new AskTable(parts.deadlines, parts.clock);
		this.#approvals = new Approvals({ stored, identifiers, yolo, asks: this.#asks, emitter: this.#emitter });
		this.#handlers = {
			"turn.start": ({ input }) => this.#startTurn(input),
			"turn.steer": ({ input }) => this.#steer(input),
			"turn.cancel": () => this.#cancel(),
			"ask.answer": ({ askId, answer }) => ({ settled: this.#asks.answer(askId, answer, "client") }),
		};
	}

	/** Carries out a command; rejects with a KernelError. */
	async send<T extends CommandType>(command: Extract<Command, { type: T }>): Promise<CommandValues[T]> {
		const handle: CommandHandlers[T] = this.#handlers[command.type as T];
		return handle(command);
	}

	/** Makes tools of a client's declarations, to attach with. */
	checkTools(declarations: readonly ClientToolDeclaration[]): Promise<CheckedTools> {
		return checkClientTools(
			declarations,
			(name) => this.#parts.tools.some((tool) => tool.name === name),
			this.#parts.identifiers,
			(ask, signal) => this.#askClientTool(ask, signal),
		);
	}

	attach({ client, tools }: AttachOptions): Attachment {
		const attached: AttachedClient = { client, tools, feed: new EventFeed() };
		this.#clients.add(attached);
		this.#emitter.add(attached.feed);
		for (const ask of this.#asks.asks()) attached.feed.push(this.#toldAgain({ type: "ask.requested", ask }));
		return { events: attached.feed, close: () => this.#detach(attached) };
	}

	/** Name and version of the client that attached last, for requests that name it. */
	clientName(): string | null {
		const client = [...this.#clients].at(-1)?.client ?? null;
		if (client === null) return null;
		return client.version === null ? client.name : `${client.name} ${client.version}`;
	}

	snapshot(): SessionSnapshot {
		const { existed } = this.#parts.stored;
		return {
			sessionId: this.id,
			workDir: this.workDir,
			turnId: this.#turn?.id ?? null,
			hasHistory: existed || this.#hadTurn,
		};
	}

	/** The session's log from its beginning. */
	records(): AsyncIterable<AgentEvent> {
		return this.#parts.stored.events();
	}

	/** Ends the running turn as cancelled, settles every ask and ends the clients' events. Idempotent. */
	async stop(): Promise<void> {
		this.#closing = true;
		this.#asks.settleAll();
		this.#turn?.controller.abort();
		await this.#turn?.ended;
		for (const client of this.#clients) client.feed.end();
	}

	/** Stops and gives up the stored files. */
	async close(): Promise<void> {
		await this.stop();
		await this.#parts.stored.close();
	}

	#startTurn(input: UserInput): { readonly turnId: string } {
		if (this.#closing) throw new KernelError("closed", "The session is closing.");
		if (this.#turn !== null) throw new KernelError("busy", "An agent turn is already in progress");
		const turn: RunningTurn = {
			id: this.#parts.identifiers.hex(32),
			controller: new AbortController(),
			steers: createSteerQueue(),
			ended: Promise.resolve(),
		};
		this.#turn = turn;
		turn.ended = this.#runTurn(turn, input);
		return { turnId: turn.id };
	}

	#steer(input: UserInput): null {
		if (this.#turn?.steers.add(input) !== true) throw noTurn();
		return null;
	}

	#cancel(): null {
		if (this.#turn === null) throw noTurn();
		// What is added now would be acknowledged and lost.
		this.#turn.steers.close();
		this.#turn.controller.abort();
		return null;
	}

	async #runTurn(turn: RunningTurn, input: UserInput): Promise<void> {
		const { stored, log } = this.#parts;
		const { signal } = turn.controller;
		const emit = (body: EventBody, keeping: Keeping = {}) =>
			this.#emitter.emit({ turnId: turn.id, agentPath: [] }, body, keeping, signal);
		let outcome: TurnOutcome;
		let isBegun = false;
		try {
			await emit({ type: "turn.started", input }, { sync: true });
			isBegun = true;
			this.#hadTurn = true;
			await stored.markStarted();
			outcome = await runTurn(input, await this.#dependencies(turn, emit), signal);
			if (outcome.status === "finished") await this.#deriveTitle(input);
		} catch (thrown) {
			log.error("A turn failed.", { session: this.id, error: thrown });
			const { code, message, data } = toKernelError(thrown);
			outcome = { status: "failed", error: { code, message, data } };
		}
		turn.steers.close();
		const ended: EventBody = { type: "turn.ended", outcome };
		// Whoever hears of the end may start the next turn at once.
		const endTurn = () => {
			this.#turn = null;
		};
		try {
			// Nothing of the turn may wait for a slow client any more, nor stay open behind it.
			turn.controller.abort();
			if (isBegun) return await emit(ended, { sync: true, beforeTold: endTurn });
		} catch (thrown) {
			log.error("The end of a turn could not be kept.", { session: this.id, error: thrown });
		}
		// A log without the beginning of a turn is not to have its end.
		endTurn();
		this.#emitter.tellUnkept({ turnId: turn.id, agentPath: [] }, ended);
	}

	async #dependencies(turn: RunningTurn, emit: EmitInTurn): Promise<TurnDependencies> {
		const { stored } = this.#parts;
		const context = await this.#loadContext();
		return {
			model: this.#parts.model,
			unsetModelAlias: this.#parts.unsetModelAlias,
			context,
			tools: createToolBox(this.#parts.tools, () => [...this.#clients].map(({ tools }) => tools)),
			steers: turn.steers,
			journal: {
				started: async (call) => {
					const { name, arguments: text } = call.function;
					await this.#kept(stored.appendCalls([{ type: "started", toolCallId: call.id, name, arguments: text }]));
					await this.#kept(stored.sync());
				},
				finished: (call, isError) =>
					this.#kept(stored.appendCalls([{ type: "finished", toolCallId: call.id, isError }])),
			},
			limits: this.#parts.limits,
			cacheKey: this.id,
			planMode: () => stored.state().planMode,
			clock: this.#parts.clock,
			random: this.#parts.random,
			emit: (body) => {
				if (body.type === "step.started") return this.#startStep(body, emit);
				// Accepted input is on stable storage before it is told.
				return emit(body, body.type === "steer.consumed" ? { sync: true } : {});
			},
			approve: (need, call, signal) => this.#kept(this.#approvals.decide(need, call, turn.id, emit, signal)),
			commit: () => this.#kept(stored.sync()),
		};
	}

	/** What a crash left behind is told inside the first step: clients show text only there. */
	async #startStep(body: EventBody, emit: EmitInTurn): Promise<void> {
		await emit(body);
		const notice = this.#crashNotice;
		if (notice === null) return;
		this.#crashNotice = null;
		await emit({ type: "content.delta", part: textPart(notice.text) });
		await notice.settle();
	}

	/** The context, restored or begun; a session's system prompt is written once and kept. */
	async #loadContext(): Promise<Context> {
		this.#context ??= await this.#openContext();
		if (!this.#isRecovered) this.#crashNotice = await recoverCalls(this.#parts.stored, this.#context);
		this.#isRecovered = true;
		return this.#context;
	}

	async #openContext(): Promise<Context> {
		const { stored, systemPrompt } = this.#parts;
		const hasPrompt = stored.contextRows.some((row) => row.type === "system-prompt");
		const content = hasPrompt ? "" : await systemPrompt();
		if (!hasPrompt) await stored.appendContext([{ type: "system-prompt", content }]);
		const log = { appendContext: (rows: readonly ContextRow[]) => this.#kept(stored.appendContext(rows)) };
		return new Context(log, stored.contextRows, content);
	}

	/** Behind a failure to keep something nothing more of the turn is told, whatever else of it still runs. */
	async #kept<T>(work: Promise<T>): Promise<T> {
		try {
			return await work;
		} catch (thrown) {
			if (this.#turn !== null) this.#emitter.fail(this.#turn.id, thrown);
			throw thrown;
		}
	}

	async #deriveTitle(input: UserInput): Promise<void> {
		const { stored } = this.#parts;
		const title = toTitle(input);
		if (stored.state().customTitle === null && title !== null) await stored.updateState({ customTitle: title });
	}

	async #askClientTool(ask: ClientToolAsk, signal: AbortSignal): Promise<ToolReturn> {
		const turn = this.#turn;
		const settlement = this.#asks.wait(ask, "client-tool", signal);
		// The client may have gone between the call and this.
		if (this.#clients.size === 0) this.#asks.clientGone();
		const where = { turnId: turn?.id ?? null, agentPath: [] };
		await this.#emitter.emit(where, { type: "ask.requested", ask }, {}, turn?.controller.signal ?? never);
		const { answer } = await settlement;
		await this.#emitter.emit(where, { type: "ask.resolved", askId: ask.id, answer }, {}, signal);
		return answer.result;
	}

	#toldAgain(body: EventBody): AgentEvent {
		return { sessionId: this.id, turnId: this.#turn?.id ?? null, agentPath: [], at: this.#parts.clock.now(), body };
	}

	#detach(client: AttachedClient): void {
		client.feed.end();
		this.#emitter.remove(client.feed);
		this.#clients.delete(client);
		if (this.#clients.size === 0) this.#asks.clientGone();
	}
}

function noTurn(): KernelError {
	return new KernelError("no-turn", "No agent turn is in progress");
}
