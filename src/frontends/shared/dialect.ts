// The contract of a dialect: what it provides and what it is given.
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { WireVersion } from "../../formats/history.ts";
import type { SessionApi, SessionsApi, SettingsDocuments } from "../../kernel/api.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { EnvelopeRules } from "../../ports/rpc/envelope.ts";
import type { MethodTable } from "../../ports/rpc/methods.ts";

/** Settings for clients with an older vocabulary; a dialect without older versions ignores them. */
export interface Compatibility {
	/** Send only what the document of this version names; null for everything. */
	readonly maxEvents: WireVersion | null;
	/** Send content parts under a name for each kind. */
	readonly typedParts: boolean;
	/** Send renamed messages and fields under their former names. */
	readonly formerNames: boolean;
	/** Whether approvals say nothing that those of `kimi` do not say. */
	readonly exactApprovals: boolean;
}

/** Everything, under current names. */
export const noCompatibility: Compatibility = {
	maxEvents: null,
	typedParts: false,
	formerNames: false,
	exactApprovals: false,
};

/** The kernel as a dialect sees it. */
export interface KernelApi {
	/** The session of a process that serves one. */
	readonly session: SessionApi;
	readonly server: { readonly name: string; readonly version: string };
	readonly compatibility: Compatibility;
	readonly log: Log;
}

/**
 * The sign-in to the managed platform. Both methods fail with a KernelError whose text is for people: `login-expired` when
 * the person did not confirm, `provider-failed` when the platform refuses or cannot be reached, `invalid-input` for unusable
 * settings, `storage-failed` for what cannot be written.
 */
export interface Account {
	/**
	 * Signs in; `show` is called once, with the address to open and the code to compare there. Sessions that are created
	 * afterwards can use the platform's models.
	 */
	signIn(show: (prompt: { readonly url: string; readonly code: string }) => void, signal: AbortSignal): Promise<void>;
	signOut(): Promise<void>;
}

/** The kernel as a dialect of many sessions sees it. */
export interface HostApi extends Omit<KernelApi, "session" | "compatibility"> {
	readonly sessions: SessionsApi;
	/** Null where nobody can sign in. */
	readonly account: Account | null;
	/** The clients' own settings documents. */
	readonly documents: SettingsDocuments;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

/** One connection of a dialect. Nothing happens before a method is called. */
export interface DialectConnection {
	readonly methods: MethodTable;
	/** Replace the dialect's own rules, when they depend on the conversation so far. */
	readonly rules?: EnvelopeRules;
	/** Aborts work that could take long without the session, such as a replay; its request is still answered. */
	abortPending(): void;
	/**
	 * Resolves once every event delivered to this client has been handed to the outbox; call it after the session
	 * stopped.
	 */
	drained(): Promise<void>;
}

/** A connection whose client may leave sessions that go on without it. */
export interface SharedConnection extends DialectConnection {
	/** The client is gone: gives up what it used. What it has begun goes on; what waits for its answers stays open. */
	leave(): void;
}

export interface Dialect {
	readonly name: string;
	readonly rules: EnvelopeRules;
	/** Whether this parsed line, the first that any dialect claims, belongs to this dialect. */
	claims(value: unknown): boolean;
	converse(kernelApi: KernelApi, peer: Peer): DialectConnection;
}

/** A dialect whose clients create sessions, as many as they like. */
export interface HostDialect extends Omit<Dialect, "converse"> {
	converse(kernelApi: HostApi, peer: Peer): DialectConnection;
}
