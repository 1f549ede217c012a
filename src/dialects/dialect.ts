// What every dialect provides, and what it is given. A dialect is a folder of small files over this.
import type { Clock } from "../base/clock.ts";
import type { Identifiers } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { SessionHost } from "../kernel/hosting/session-host.ts";
import type { SettingsDocuments } from "../kernel/hosting/settings-documents.ts";
import type { Session } from "../kernel/session/session.ts";
import type { WireVersion } from "../messages/history.ts";
import type { Peer } from "../rpc/connection.ts";
import type { EnvelopeRules } from "../rpc/envelope.ts";
import type { MethodTable } from "../rpc/methods.ts";

/** What the settings ask for the sake of clients that know an older vocabulary; a dialect without one passes it over. */
export interface Compatibility {
	/** Tell only what the document of this version names; null for everything. */
	readonly maxEvents: WireVersion | null;
	/** Tell content parts under a name for each kind. */
	readonly typedParts: boolean;
	/** Tell what was renamed under its former name. */
	readonly formerNames: boolean;
}

/** Everything, under the names of today. */
export const noCompatibility: Compatibility = { maxEvents: null, typedParts: false, formerNames: false };

/** The kernel as a dialect sees it. */
export interface KernelApi {
	/** The session of a process that serves one. */
	readonly session: Session;
	readonly server: { readonly name: string; readonly version: string };
	readonly compatibility: Compatibility;
	readonly log: Log;
}

/** The kernel as a dialect of many sessions sees it. */
export interface HostApi extends Omit<KernelApi, "session" | "compatibility"> {
	readonly sessions: SessionHost;
	/** Settings of the clients' own world. */
	readonly documents: SettingsDocuments;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

/** One connection speaking one dialect. Nothing happens before a method is called. */
export interface DialectConnection {
	readonly methods: MethodTable;
	/** In place of the dialect's own, when they depend on what was said. */
	readonly rules?: EnvelopeRules;
	/** Cuts short what could take long without the session, such as a replay; its request is still answered. */
	abortPending(): void;
	/** Resolves once every event told to this client has been handed to the outbox; call it after the session stopped. */
	drained(): Promise<void>;
}

export interface Dialect {
	readonly name: string;
	readonly rules: EnvelopeRules;
	/** Whether this parsed line, the first that anybody claims, begins a conversation in this dialect. */
	claims(value: unknown): boolean;
	converse(kernelApi: KernelApi, peer: Peer): DialectConnection;
}

/** A dialect whose clients make sessions, as many as they like. */
export interface HostDialect extends Omit<Dialect, "converse"> {
	converse(kernelApi: HostApi, peer: Peer): DialectConnection;
}
