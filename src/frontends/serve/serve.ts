// Serves one transport: chooses the dialect by the first claimed message, and ends in order.

import type { SessionApi } from "../../api/kernel.ts";
import { aborted } from "../../base/abort.ts";
import type { Log } from "../../base/log.ts";
import { Connection, type ConnectionSettings, type Peer } from "../../ports/rpc/connection.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import { kimiDialect } from "../kimi/dialect.ts";
import { legacyDialect } from "../legacy/dialect.ts";
import type { Compatibility, Dialect, DialectConnection, HostApi, HostDialect, KernelApi } from "../shared/dialect.ts";

/** In the order in which they may claim the first message. */
const dialects: readonly Dialect[] = [legacyDialect, kimiDialect];

/** Serves a connection until a dialect has claimed it. */
const undecidedDialect = kimiDialect;

const usualInFlight = 256;

/** Milliseconds for a replay to end after serving has ended. */
const patience = 1000;

/** Asked after the dialects of one session. */
export interface HostOffer extends Pick<HostApi, "sessions" | "account" | "documents" | "clock" | "identifiers"> {
	readonly dialects: readonly HostDialect[];
}

export interface ServeOptions {
	readonly transport: LineTransport;
	readonly session: SessionApi | null;
	/** No request is handled before it resolves; absent for at once. */
	readonly begun?: Promise<void>;
	readonly host?: HostOffer;
	readonly server: { readonly name: string; readonly version: string };
	readonly compatibility: Compatibility;
	readonly maximumInFlight?: number;
	readonly log: Log;
	readonly signal: AbortSignal;
}

export type ServeEnd = "input-ended" | "stopped" | "output-gone";

export interface Serving {
	/** Resolves when the input ended, the signal aborted or the output broke. */
	readonly ended: Promise<ServeEnd>;
	/** Settles interactions, cancels the running turn, and resolves once pending output was written. */
	finish(): Promise<void>;
	isOutputGone(): boolean;
}

interface Offer extends Omit<Dialect, "converse"> {
	converse(peer: Peer): DialectConnection;
}

export function serve(options: ServeOptions): Serving {
	const { transport, session, begun, host, log, signal, maximumInFlight = usualInFlight } = options;
	const offers = toOffers(options);
	const conversations = new Map<Offer, DialectConnection>();
	const settings = (offer: Offer): ConnectionSettings => {
		const conversation = conversations.get(offer) ?? offer.converse(connection);
		conversations.set(offer, conversation);
		return { rules: conversation.rules ?? offer.rules, methods: conversation.methods };
	};
	const [first, ...others] = offers;
	if (first === undefined) throw new Error("serving needs a session or a host of sessions");
	const undecided = [first, ...others].find(({ name }) => name === undecidedDialect.name) ?? first;
	const connection: Connection = new Connection(transport, {
		undecided: () => settings(undecided),
		choose: (value) => {
			const chosen = offers.find((offer) => offer.claims(value));
			if (chosen === undefined) return null;
			log.info("The dialect is chosen.", { dialect: chosen.name });
			return settings(chosen);
		},
		maximumInFlight,
		log,
		...(begun === undefined ? {} : { begun }),
	});

	return {
		ended: Promise.race([
			connection.serve().then(() => "input-ended" as const),
			aborted(signal).then(() => "stopped" as const),
			aborted(transport.gone).then(() => "output-gone" as const),
		]),
		async finish() {
			const impatience = setTimeout(() => {
				for (const conversation of conversations.values()) conversation.abortPending();
			}, patience);
			await Promise.all([session?.stop(), host?.sessions.stop()]);
			await Promise.all([...conversations.values()].map((conversation) => conversation.drained()));
			await connection.idle();
			clearTimeout(impatience);
			await transport.flush();
			transport.close();
		},
		isOutputGone: () => transport.gone.aborted,
	};
}

function toOffers({ session, host, server, compatibility, log }: ServeOptions): readonly Offer[] {
	const offers: Offer[] = [];
	if (session !== null) {
		const kernelApi: KernelApi = { session, server, compatibility, log };
		for (const dialect of dialects) offers.push({ ...dialect, converse: (peer) => dialect.converse(kernelApi, peer) });
	}
	if (host !== undefined) {
		const { dialects: hosted, ...parts } = host;
		const kernelApi: HostApi = { ...parts, server, log };
		for (const dialect of hosted) offers.push({ ...dialect, converse: (peer) => dialect.converse(kernelApi, peer) });
	}
	return offers;
}
