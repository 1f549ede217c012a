// The differences between the protocol's two eras as one table of functions. A connection starts with the seed era's codec and
// switches to the contract era's when the client requests capabilities (docs/guides/meerkat.md).
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

/** Further data of an ended run. */
export interface EndedRun {
	readonly calls: readonly CountedCall[];
	readonly facts: SessionFacts;
	/** The number of skills in the session. */
	readonly skills: number;
}

export interface ListedSession {
	readonly info: SessionInfo;
	readonly facts: SessionFacts;
}

export interface ReadSession extends ListedSession {
	/** The model in the settings; undefined if it was removed from them. */
	readonly model: ModelOption | undefined;
}

export interface EraCodec {
	/** Selects the error numbers (errors.ts). */
	readonly era: Era;
	/** The event as `session/event` has it; null if the era lacks it. */
	event(event: MeerkatEvent, sessionId: string, mark: EventMark): SeedEvent | EventEnvelope | null;
	/**
	 * Whether the contract's rules apply: turns wait for a running one, clients may decline a run's events, and fields without
	 * effect are rejected.
	 */
	readonly isContract: boolean;
	/** Names the session in results. */
	located(sessionId: string): { readonly session_id: string; readonly session_ref?: string };
	runResult(result: Omit<RunResult, "usage">, ended: EndedRun): RunResult;
	/** The result of `turn/interrupt`. `isStaged`: the session has had no run yet. */
	interrupt(sessionId: string, isStaged: boolean): InterruptResult;
	sessionList(sessions: readonly ListedSession[]): SessionListResult;
	sessionRead(session: ReadSession): SessionReadResult;
	/** The result of `config/get` and `config/patch`; `generation` counts the changes made over this connection. */
	config(config: ConfigView, generation: number): ConfigResult;
	configSet(config: ConfigView, generation: number): ConfigSetResult;
}
