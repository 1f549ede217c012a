// The protocol has two eras: requesting capabilities switches a connection from the seed to the contract era.

import type { ModelOption } from "../../../api/models.ts";
import type { SessionInfo } from "../../../api/session-state.ts";
import type { ConfigView } from "../configuration/config-view.ts";
import type { ConfigResult, ConfigSetResult } from "../configuration/wire-config.ts";
import type { Era } from "../errors.ts";
import type { CountedCall } from "../projection/accounting.ts";
import type { SessionFacts } from "../projection/facts.ts";
import type { EventEnvelope, MeerkatEvent, SeedEvent } from "../wire/wire-events.ts";
import type { InterruptResult, RunResult, SessionListResult, SessionReadResult } from "../wire.ts";

export interface EventMark {
	eventId(): string;
	readonly sequence: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

export interface EndedRun {
	readonly calls: readonly CountedCall[];
	readonly facts: SessionFacts;
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
	readonly era: Era;
	event(event: MeerkatEvent, sessionId: string, mark: EventMark): SeedEvent | EventEnvelope | null;
	/** Whether the contract's rules apply: turns queue, events can be declined, fields without effect are rejected. */
	readonly isContract: boolean;
	located(sessionId: string): { readonly session_id: string; readonly session_ref?: string };
	runResult(result: Omit<RunResult, "usage">, ended: EndedRun): RunResult;
	/** The result of `turn/interrupt`. `isStaged`: the session has had no run yet. */
	interrupt(sessionId: string, isStaged: boolean): InterruptResult;
	sessionList(sessions: readonly ListedSession[]): SessionListResult;
	sessionRead(session: ReadSession): SessionReadResult;
	config(config: ConfigView, generation: number): ConfigResult;
	configSet(config: ConfigView, generation: number): ConfigSetResult;
}
