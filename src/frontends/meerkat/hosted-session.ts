// A loaded session on one connection: sends its events to the client and keeps the facts about it.

import type { SessionHandle } from "../../api/kernel.ts";
import type { Cursor, EventBodyOf, TurnOutcome } from "../../api/values/event.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import { forgetOldest } from "../../base/collections.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { HostApi } from "../shared/dialect.ts";
import { toThrown } from "../shared/error-numbers.ts";
import { EventPump, type Outgoing } from "../shared/event-pump.ts";
import type { EraCodec } from "./eras/codec.ts";
import { NamedError, toNamedError } from "./errors.ts";
import { type CallPlace, type InteractionRequest, toRequest } from "./interactions.ts";
import { cursorOf, type SessionFacts } from "./projection/facts.ts";
import { toOutcome } from "./projection/failures.ts";
import { createProjection, denialText, noReport, type Projection, type RunReport } from "./projection/projection.ts";
import { type StagedServer, toRefusedTool, toToolChange } from "./projection/tool-changes.ts";
import type { SessionStreams } from "./session-streams.ts";
import { type BlocksOrText, toInput } from "./wire/blocks.ts";
import type { MeerkatEvent } from "./wire/wire-events.ts";
import type { RequestMethod, RunResult, ToolDeclaration } from "./wire.ts";

export interface ClientSide {
	codec(): EraCodec;
	answers(): ReadonlySet<RequestMethod>;
	tools(): readonly ToolDeclaration[];
	eventId(): string;
	now(): number;
	readonly streams: Pick<SessionStreams, "has" | "take">;
}

export interface Remembered {
	facts: SessionFacts;
	cursor: Cursor | null;
	sequence: number;
}

interface TurnEnd {
	readonly report: RunReport;
	readonly facts: SessionFacts;
}

export interface RunStart {
	readonly prompt: BlocksOrText;
	readonly withEvents: boolean;
	readonly options: TurnOptions;
	readonly preface: readonly MeerkatEvent[];
	readonly isOfEvents: boolean;
}

const skillPrefix = "skill:";
/** A session runs one turn at a time, and its caller takes the end soon. */
const mostEnds = 16;

export class HostedSession {
	readonly pump: EventPump;
	readonly #handle: Pick<SessionHandle, "session" | "info">;
	readonly #client: ClientSide;
	readonly #remembered: Remembered;
	readonly #projection: Projection;
	/** Turn ends, kept until their requests are answered: the next turn may already run. */
	readonly #ends = new Map<string, TurnEnd>();
	/** The number of turns being started whose events the client declined. A turn that begins meanwhile is one of them. */
	#quietStarts = 0;
	readonly #quietTurns = new Set<string>();
	#preface: MeerkatEvent[] = [];
	#announced: readonly MeerkatEvent[] = [];
	/** Servers that the client changed and no run has used yet. */
	#staged: StagedServer[] = [];
	/** Of the events among the facts; null once one was missed or repeated, so that all are read again. */
	#lastSeq: number | null;
	#isOfEvents = false;
	#run: { readonly id: string; readonly turnId: string } | null = null;
	#skills = 0;
	/** Requests about calls that were not sent yet. */
	#early: InteractionRequest[] = [];

	private constructor(
		handle: SessionHandle,
		kernelApi: Pick<HostApi, "log">,
		peer: Peer,
		client: ClientSide,
		remembered: Remembered,
	) {
		const { session, info } = handle;
		this.#handle = handle;
		this.#client = client;
		this.#remembered = remembered;
		this.#lastSeq = remembered.cursor?.seq ?? 0;
		this.#projection = createProjection({
			sessionId: session.id,
			model: { provider: info.provider, model: info.model },
			facts: remembered.facts,
			describe: (outcome) => outcomeText(outcome, info.provider),
		});
		this.pump = new EventPump(session, peer, (event) => this.#project(event), kernelApi.log);
	}

	static async attach(
		handle: SessionHandle,
		kernelApi: Pick<HostApi, "log">,
		peer: Peer,
		client: ClientSide,
		remembered: Remembered,
	): Promise<HostedSession> {
		const declared = client.tools().map(({ name, description, input_schema }) => ({
			name,
			description,
			parameters: input_schema,
		}));
		const hosted = new HostedSession(handle, kernelApi, peer, client, remembered);
		const answers = client.answers();
		// Before attaching: an attachment leaked by a failure here would send events forever.
		const { slashCommands } = await handle.session.send({ type: "session.describe" });
		const attachment = await handle.session.attach({
			client: null,
			tools: declared,
			capabilities: answers.has("question/request") ? ["questions"] : [],
			approves: answers.has("approval/request"),
			hooks: [],
		});
		for (const { name, reason } of attachment.tools.rejected) {
			kernelApi.log.warn("A tool of the client was refused.", { tool: name, reason });
			hosted.announce([toRefusedTool(name)]);
		}
		hosted.pump.carry(attachment);
		hosted.#skills = slashCommands.filter(({ name }) => name.startsWith(skillPrefix)).length;
		return hosted;
	}

	/** Starts a turn. When `ended` resolves, all events that the client wants are in the outbox. */
	async start(
		handle: SessionHandle,
		{ prompt, withEvents, options, preface, isOfEvents }: RunStart,
	): Promise<{ readonly ended: Promise<RunResult> }> {
		if (!withEvents) this.#quietStarts += 1;
		this.#preface = [...this.#staged.map((each) => toToolChange(each, null)), ...this.#announced, ...preface];
		this.#isOfEvents = isOfEvents;
		const starting = this.pump.follow(async () => {
			const { turnId } = await handle.startTurn(toInput(prompt), options).catch((thrown: unknown) => {
				this.#preface = [];
				this.#isOfEvents = false;
				throw thrown;
			});
			this.#announced = [];
			if (!withEvents) this.#quietTurns.add(turnId);
			return turnId;
		});
		const { turnId, ended } = await starting.finally(() => {
			if (!withEvents) this.#quietStarts -= 1;
		});
		return {
			ended: ended.then((each) => {
				this.#quietTurns.delete(turnId);
				return this.#toResult(each, this.#takeEnd(turnId));
			}),
		};
	}

	announce(events: readonly MeerkatEvent[]): void {
		this.#announced = [...this.#announced, ...events];
	}

	/** Notes a server change; the client hears of it and of its outcome before the next run. */
	stageServer(operation: StagedServer["operation"], name: string): void {
		this.unstageServer(name);
		this.#staged.push({ operation, name });
	}

	unstageServer(name: string): void {
		this.#staged = this.#staged.filter((each) => each.name !== name);
	}

	/** Reports the outcome of server changes once none is still connecting. */
	#settleServers({ mcp_status: status }: EventBodyOf<"status.changed">): readonly MeerkatEvent[] {
		if (status === null || status.loading || this.#staged.length === 0) return [];
		const connected = new Set(status.servers.flatMap((server) => (server.status === "connected" ? [server.name] : [])));
		return this.#staged.splice(0).map((each) => toToolChange(each, connected.has(each.name)));
	}

	/** Resolves once the end of this run was sent, or stays hidden; null if it does not run. */
	runEnded(runId: string): Promise<unknown> | null {
		return this.#run?.id === runId ? this.pump.turnEnded(this.#run.turnId) : null;
	}

	#project(event: Parameters<Projection["take"]>[0]): readonly Outgoing[] {
		const { body } = event;
		const sessionId = this.#handle.session.id;
		this.#noteCursor(cursorOf(event));
		if (body.type === "interaction.resolved") {
			this.#early = this.#early.filter(({ interactionId }) => interactionId !== body.interactionId);
			return [{ kind: "settled", interactionId: body.interactionId }];
		}
		if (body.type === "interaction.requested") {
			const request = toRequest(body.interaction, sessionId, this.#client.answers(), this.#callPlace());
			if (request === null) return [];
			if (!this.#projection.isAnswering()) return [request];
			this.#early.push(request);
			return [];
		}
		let events = this.#projection.take(event);
		this.#remembered.facts = this.#projection.facts();
		if (body.type === "turn.ended" && event.turnId !== null && event.agentPath.length === 0)
			this.#noteEnd(event.turnId);
		if (body.type === "turn.started" && event.turnId !== null && this.#quietStarts > 0)
			this.#quietTurns.add(event.turnId);
		// A session's hooks precede the beginning of their run.
		if (body.type === "session-hook.started" && event.turnId !== null && this.#quietStarts > 0)
			this.#quietTurns.add(event.turnId);
		const isQuiet = event.turnId !== null && this.#quietTurns.has(event.turnId);
		if (isQuiet && body.type === "turn.ended" && event.agentPath.length === 0) this.#quietTurns.delete(event.turnId);
		// The first event of a run is its beginning.
		if (body.type === "status.changed") events = [...events, ...this.#settleServers(body)];
		if (this.#isOfEvents) events = events.map(withoutInteraction);
		if (events.some(isEndOfRun)) this.#isOfEvents = false;
		if (events[0]?.type === "run_started") events = [...this.#preface.splice(0), ...events];
		const delivered = events.flatMap((each) => this.#toNotifications(each, sessionId, event.at, isQuiet));
		for (const each of events) this.#followRun(each, event.turnId);
		return this.#projection.isAnswering() ? delivered : [...delivered, ...this.#early.splice(0)];
	}

	#noteCursor(cursor: Cursor | null): void {
		if (cursor === null) return;
		const epoch = this.#remembered.cursor?.epoch ?? cursor.epoch;
		const follows = this.#lastSeq !== null && cursor.seq === this.#lastSeq + 1 && cursor.epoch === epoch;
		this.#lastSeq = follows ? cursor.seq : null;
		this.#remembered.cursor = follows ? cursor : null;
	}

	/** Where the run calls a tool; null in the first protocol, whose calls have no key. */
	#callPlace(): CallPlace | null {
		if (!this.#client.codec().isContract || this.#run === null) return null;
		return { runId: this.#run.id, round: Math.max(0, this.#projection.rounds() - 1) };
	}

	#followRun(event: MeerkatEvent, turnId: string | null): void {
		if (event.type === "run_started") {
			this.#run = event.identity === undefined || turnId === null ? null : { id: event.identity.run_id, turnId };
		} else if (isEndOfRun(event)) this.#run = null;
	}

	/** A quiet event goes only to subscriptions. */
	#toNotifications(event: MeerkatEvent, sessionId: string, at: number, isQuiet: boolean): readonly Outgoing[] {
		const { streams } = this.#client;
		if (isQuiet && !streams.has(sessionId)) return [];
		const delivered = this.#client.codec().event(event, sessionId, {
			eventId: () => this.#client.eventId(),
			sequence: this.#remembered.sequence + 1,
			at,
		});
		if (delivered === null) return [];
		this.#remembered.sequence += 1;
		const params = { session_id: sessionId, event: delivered };
		return [
			...(isQuiet ? [] : [{ kind: "notification" as const, method: "session/event", params }]),
			...streams
				.take(sessionId, delivered)
				.map((each) => ({ kind: "notification" as const, method: "session/stream_event", params: each })),
		];
	}

	#noteEnd(turnId: string): void {
		this.#ends.set(turnId, this.#present());
		forgetOldest(this.#ends, mostEnds);
	}

	#present(): TurnEnd {
		return { report: this.#projection.report(), facts: this.#projection.facts() };
	}

	/** A turn that could not begin has no entry: it did nothing. */
	#takeEnd(turnId: string): TurnEnd {
		const end = this.#ends.get(turnId) ?? { report: noReport, facts: this.#projection.facts() };
		this.#ends.delete(turnId);
		return end;
	}

	#toResult(outcome: TurnOutcome, { report, facts }: TurnEnd): RunResult {
		const { session, info } = this.#handle;
		const { text, turns, toolCalls, calls, denial, formed } = report;
		if (denial !== null) {
			const text = denialText(denial);
			throw new NamedError("HOOK_DENIED", text, { session_id: session.id, ...this.#toErrorData(report, text) });
		}
		switch (outcome.status) {
			case "finished":
			case "truncated":
			case "max-steps":
				return {
					...this.#client
						.codec()
						.runResult(
							{ session_id: session.id, text, turns, tool_calls: toolCalls },
							{ calls, facts, skills: this.#skills },
						),
					...toOutput(formed),
				};
			case "cancelled":
				throw new NamedError("REQUEST_CANCELLED", outcomeText(outcome, info.provider), { session_id: session.id });
			case "failed": {
				const { code, details } = toNamedError(toThrown(outcome.error), session.id);
				const text = outcomeText(outcome, info.provider);
				throw new NamedError(report.cause === "hook_denied" ? "HOOK_DENIED" : code, text, {
					...details,
					...this.#toErrorData(report, text),
				});
			}
		}
	}

	#toErrorData({ cause }: RunReport, detail: string): Readonly<Record<string, unknown>> {
		if (cause === null || !this.#client.codec().isContract) return {};
		return { error: { kind: cause, outcome: toOutcome(cause), detail, terminal: true } };
	}
}

const isEndOfRun = ({ type }: MeerkatEvent) => type === "run_completed" || type === "run_failed";

/** A run without a prompt has no interaction. */
function withoutInteraction(event: MeerkatEvent): MeerkatEvent {
	if (event.type !== "run_started" && event.type !== "run_completed" && event.type !== "run_failed") return event;
	return event.identity === undefined ? event : { ...event, identity: { run_id: event.identity.run_id } };
}

function toOutput(formed: RunReport["formed"]): Pick<RunResult, "structured_output" | "extraction_error"> {
	if (formed === null) return {};
	if (formed.kind === "formed") return { structured_output: formed.value };
	const { lastAnswer, attempts, reason } = formed;
	return { extraction_error: { last_output: lastAnswer, attempts, reason } };
}

function outcomeText(outcome: Extract<TurnOutcome, { status: "cancelled" | "failed" }>, provider: string): string {
	if (outcome.status === "cancelled") return "Run was cancelled";
	const { code, message } = outcome.error;
	return code === "provider-failed" || code === "login-expired" ? `LLM error (${provider}): ${message}` : message;
}
