import type { SessionApi, SessionsApi, SettingsDocuments } from "../../api/kernel.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { WireVersion } from "../../formats/history.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { EnvelopeRules } from "../../ports/rpc/envelope.ts";
import type { MethodTable } from "../../ports/rpc/methods.ts";

/** Settings for clients with an older vocabulary; dialects without older versions ignore them. */
export interface Compatibility {
	/** Send only what this version's document names; null for everything. */
	readonly maxEvents: WireVersion | null;
	/** Send each kind of content part under its own name. */
	readonly typedParts: boolean;
	/** Send renamed messages and fields under their former names. */
	readonly formerNames: boolean;
	readonly exactApprovals: boolean;
}

/** Send everything, under current names. */
export const noCompatibility: Compatibility = {
	maxEvents: null,
	typedParts: false,
	formerNames: false,
	exactApprovals: false,
};

export interface KernelApi {
	readonly session: SessionApi;
	readonly server: { readonly name: string; readonly version: string };
	readonly compatibility: Compatibility;
	readonly log: Log;
}

/** Fails with errors for people: `login-expired`, `provider-failed`, `invalid-input` or `storage-failed`. */
export interface Account {
	/** Calls `show` once, with the address and the code. Later sessions can use the platform's models. */
	signIn(show: (prompt: { readonly url: string; readonly code: string }) => void, signal: AbortSignal): Promise<void>;
	signOut(): Promise<void>;
}

export interface HostApi extends Omit<KernelApi, "session" | "compatibility"> {
	readonly sessions: SessionsApi;
	readonly account: Account | null;
	readonly documents: SettingsDocuments;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

/** One connection. Does nothing before a method is called. */
export interface DialectConnection {
	readonly methods: MethodTable;
	/** Replaces the dialect's rules if they depend on the conversation so far. */
	readonly rules?: EnvelopeRules;
	/** Aborts long work that does not need the session, such as a replay; its request is still answered. */
	abortPending(): void;
	/** Resolves once every delivered event is in the outbox. Call it after the session has stopped. */
	drained(): Promise<void>;
}

/** A connection whose client may leave while its sessions continue. */
export interface SharedConnection extends DialectConnection {
	/** The client is gone: releases everything it used. Its turns continue; requests to it stay open. */
	leave(): void;
}

export interface Dialect {
	readonly name: string;
	readonly rules: EnvelopeRules;
	/** Whether this parsed line, the first that any dialect claims, belongs to this dialect. */
	claims(value: unknown): boolean;
	converse(kernelApi: KernelApi, peer: Peer): DialectConnection;
}

/** A dialect whose clients create any number of sessions. */
export interface HostDialect extends Omit<Dialect, "converse"> {
	converse(kernelApi: HostApi, peer: Peer): DialectConnection;
}
