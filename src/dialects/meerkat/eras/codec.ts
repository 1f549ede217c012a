// The differences between the two eras of the protocol as one table of functions. A connection has one codec at a time:
// the seed era's until the client requests capabilities, the contract era's from then on (docs/meerkat.md).
import type { TokenUsage } from "../../../events/content.ts";
import type { SessionInfo } from "../../../kernel/api.ts";
import type { ConfigView } from "../configuration/config-view.ts";
import type { Era } from "../errors.ts";
import type { SessionFacts } from "../projection/facts.ts";
import type {
	ConfigResult,
	ConfigSetResult,
	InterruptResult,
	RunResult,
	SessionListResult,
	SessionReadResult,
} from "../wire.ts";
import type { EventEnvelope, MeerkatEvent, SeedEvent } from "../wire-events.ts";

/** The identity of an event. */
export interface EventMark {
	/** A fresh id, for eras whose events have ids. */
	eventId(): string;
	readonly sequence: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/** A part of a list: at most `limit` entries from `offset` on. */
export interface Page {
	readonly offset: number;
	readonly limit: number;
}

export interface EraCodec {
	/** The key of its error numbers (errors.ts). */
	readonly era: Era;
	/** The event in the form of `session/event`; null where the era has no such event. */
	event(event: MeerkatEvent, sessionId: string, mark: EventMark): SeedEvent | EventEnvelope | null;
	/**
	 * Whether the rules of the contract hold: turns that come during a run wait for its end, clients may go without the events
	 * of a run, and fields that have no effect are refused.
	 */
	readonly isContract: boolean;
	/** The result of a run; `calls` has the usage of each model call. */
	runResult(result: Omit<RunResult, "usage">, calls: readonly TokenUsage[], facts: SessionFacts): RunResult;
	/** The result of `turn/interrupt`; `isStaged` says that the session has had no run. */
	interrupt(sessionId: string, isStaged: boolean): InterruptResult;
	/** The result of `session/list`, which only the contract era pages. */
	sessionList(sessions: readonly SessionInfo[], factsOf: (id: string) => SessionFacts, page: Page): SessionListResult;
	/** The result of `session/read`. */
	sessionRead(session: SessionInfo, facts: SessionFacts): SessionReadResult;
	/** The result of `config/get` and `config/patch`; `generation` counts the changes made over this connection. */
	config(config: ConfigView, generation: number): ConfigResult;
	/** The result of `config/set`. */
	configSet(config: ConfigView, generation: number): ConfigSetResult;
}
