// What the two eras of the protocol write differently, as one table of functions. A connection has one codec at a time:
// the seed era's until the client asks for capabilities, the contract era's from then on (docs/meerkat.md).
import type { SessionInfo } from "../../kernel/hosting/session-host.ts";
import type { ConfigView } from "./config-view.ts";
import type { Era } from "./errors.ts";
import type { SessionFacts } from "./facts.ts";
import type { ConfigResult, ConfigSetResult, RunResult, SessionListResult, SessionReadResult } from "./wire.ts";
import type { EventEnvelope, MeerkatEvent, SeedEvent } from "./wire-events.ts";

/** What distinguishes an event from all others. */
export interface EventMark {
	/** A fresh id, for eras that name their events. */
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

export type RunUsage = RunResult["usage"];

export interface EraCodec {
	/** Under which its error numbers are listed (errors.ts). */
	readonly era: Era;
	/** The event as `session/event` carries it; null where the era has no such event. */
	event(event: MeerkatEvent, sessionId: string, mark: EventMark): SeedEvent | EventEnvelope | null;
	/** The usage of a run: what both eras have, and what this one adds. */
	runUsage(usage: RunUsage, facts: SessionFacts): RunUsage;
	/** The answer to `session/list`, which only the contract era pages. */
	sessionList(sessions: readonly SessionInfo[], factsOf: (id: string) => SessionFacts, page: Page): SessionListResult;
	/** The answer to `session/read`. */
	sessionRead(session: SessionInfo, facts: SessionFacts): SessionReadResult;
	/** The answer to `config/get` and `config/patch`; `generation` counts the changes made over this connection. */
	config(config: ConfigView, generation: number): ConfigResult;
	/** The answer to `config/set`. */
	configSet(config: ConfigView, generation: number): ConfigSetResult;
}
