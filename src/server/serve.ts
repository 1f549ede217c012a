// Serves one transport: chooses the dialect by the first message anybody claims, and ends in good order.
import type { Log } from "../base/log.ts";
import type { Compatibility, Conversation, Dialect, Door } from "../dialects/dialect.ts";
import { kimiDialect } from "../dialects/kimi/dialect.ts";
import { legacyDialect } from "../dialects/legacy/dialect.ts";
import type { Session } from "../kernel/session.ts";
import { Connection, type ConnectionSettings } from "../rpc/connection.ts";
import type { LineTransport } from "../rpc/transport.ts";

/** In the order in which they are asked whether a first message is theirs. */
const dialects: readonly Dialect[] = [legacyDialect, kimiDialect];

/** Serves a connection until a dialect has claimed it. */
const undecidedDialect = kimiDialect;

/** Requests handled at once on one connection. */
const maximumInFlight = 256;

/** Milliseconds that a replay may still take once serving has ended. */
const patience = 1000;

export interface ServeOptions {
	readonly transport: LineTransport;
	readonly session: Session;
	readonly server: { readonly name: string; readonly version: string };
	readonly compatibility: Compatibility;
	readonly log: Log;
	/** Aborts to end serving as if the input had ended. */
	readonly signal: AbortSignal;
}

/** Why serving ended. */
export type ServeEnd = "input-ended" | "stopped" | "output-gone";

export interface Serving {
	/** Resolves when the input ended, the signal aborted or the output went away. */
	readonly ended: Promise<ServeEnd>;
	/**
	 * Settles open asks, ends the running turn as cancelled and resolves once everything owed to the client was
	 * written. The session is stopped, not closed.
	 */
	finish(): Promise<void>;
	isOutputGone(): boolean;
}

export function serve({ transport, session, server, compatibility, log, signal }: ServeOptions): Serving {
	const door: Door = { session, server, compatibility, log };
	const conversations = new Map<Dialect, Conversation>();
	const settings = (dialect: Dialect): ConnectionSettings => {
		const conversation = conversations.get(dialect) ?? dialect.converse(door, connection);
		conversations.set(dialect, conversation);
		return { rules: dialect.rules, methods: conversation.methods };
	};
	const connection: Connection = new Connection(transport, {
		undecided: () => settings(undecidedDialect),
		choose: (value) => {
			const chosen = dialects.find((dialect) => dialect.claims(value));
			if (chosen === undefined) return null;
			log.info("The dialect is chosen.", { dialect: chosen.name });
			return settings(chosen);
		},
		maximumInFlight,
		log,
	});

	return {
		ended: Promise.race([
			connection.serve().then(() => "input-ended" as const),
			aborted(signal).then(() => "stopped" as const),
			aborted(transport.gone).then(() => "output-gone" as const),
		]),
		async finish() {
			const impatience = setTimeout(() => {
				for (const conversation of conversations.values()) conversation.hurry();
			}, patience);
			await session.stop();
			await Promise.all([...conversations.values()].map((conversation) => conversation.drained()));
			await connection.idle();
			clearTimeout(impatience);
			await transport.flush();
			transport.close();
		},
		isOutputGone: () => transport.gone.aborted,
	};
}

function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
