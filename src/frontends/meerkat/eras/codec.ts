// The differences between the two eras of the protocol as one table of functions. A connection has one codec at a time:
// the seed era's until the client requests capabilities, the contract era's from then on (docs/guides/meerkat.md).
import type { ModelOption, SessionInfo } from "../../../kernel/api.ts";
import type { ConfigView } from "../configuration/config-view.ts";
import type { ConfigResult, ConfigSetResult } from "../configuration/wire-config.ts";
import type { Era } from "../errors.ts";
import type { CountedCall } from "../projection/accounting.ts";
import type { SessionFacts } from "../projection/facts.ts";
import type { EventEnvelope, MeerkatEvent, SeedEvent } from "../wire/wire-events.ts";
import type { InterruptResult, RunResult, SessionListResult, SessionReadResult } from "../wire.ts";

/** The identity of an event. */
export interface EventMark {
	/** A fresh id, for eras whose events have ids. */
	eventId(): string;
	readonly sequence: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/** What else is known of a run that ended. */
export interface EndedRun {
	readonly calls: readonly CountedCall[];
	readonly facts: SessionFacts;
	/** How many skills the session has. */
	readonly skills: number;
}

export interface ListedSession {
	readonly info: SessionInfo;
	readonly facts: SessionFacts;
}

export interface ReadSession extends ListedSession {
	/** Its model in the settings; undefined when they have it no more. */
	readonly model: ModelOption | undefined;
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
	/** What names a session in results. */
	located(sessionId: string): { readonly session_id: string; readonly session_ref?: string };
	/** The result of a run. */
	runResult(result: Omit<RunResult, "usage">, ended: EndedRun): RunResult;
	/** The result of `turn/interrupt`; `isStaged` says that the session has had no run. */
	interrupt(sessionId: string, isStaged: boolean): InterruptResult;
	/** The result of `session/list`. */
	sessionList(sessions: readonly ListedSession[]): SessionListResult;
	/** The result of `session/read`. */
	sessionRead(session: ReadSession): SessionReadResult;
	/** The result of `config/get` and `config/patch`; `generation` counts the changes made over this connection. */
	config(config: ConfigView, generation: number): ConfigResult;
	/** The result of `config/set`. */
	configSet(config: ConfigView, generation: number): ConfigSetResult;
}
