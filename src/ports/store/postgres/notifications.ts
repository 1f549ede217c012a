// PostgreSQL notifications over a dedicated connection, which is renewed if lost.
import type { Client } from "pg";
import { unlessAborted, workIsOver } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import { errorText } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Connections } from "./connections.ts";

type OnPayload = (payload: string | null) => void;

const firstReconnect = 100;
const longestReconnect = 5_000;
/** Milliseconds between connection checks. */
const pingInterval = 30_000;

export class Notifications {
	readonly #database: string;
	readonly #connections: () => Promise<Connections>;
	readonly #log: Log;
	readonly #clock: Clock;
	readonly #closing = new AbortController();
	readonly #channels = new Map<string, OnPayload[]>();
	#client: Client | null = null;
	#listening: Promise<void> | null = null;

	constructor(database: string, connections: () => Promise<Connections>, log: Log, clock: Clock) {
		this.#database = database;
		this.#connections = connections;
		this.#log = log;
		this.#clock = clock;
	}

	listen(channel: string, onPayload: OnPayload): void {
		this.#channels.set(channel, [...(this.#channels.get(channel) ?? []), onPayload]);
		if (this.#listening === null) this.#listening = this.#keepListening();
		else void this.#client?.query(`listen ${quoteName(channel)}`).catch(() => undefined);
	}

	async close(): Promise<void> {
		this.#closing.abort();
		await this.#listening;
	}

	async #keepListening(): Promise<void> {
		let wait = firstReconnect;
		while (!this.#closing.signal.aborted) {
			try {
				await this.#listenOnce(() => {
					wait = firstReconnect;
				});
			} catch (thrown) {
				if (this.#closing.signal.aborted) return;
				const cause = errorText(thrown);
				this.#log.info("notifications of the database are not received", { database: this.#database, cause });
			}
			await sleep(this.#clock, wait, this.#closing.signal, true);
			wait = Math.min(2 * wait, longestReconnect);
		}
	}

	async #listenOnce(onReady: () => void): Promise<void> {
		const client = (await this.#connections()).createClient();
		const ending = new AbortController();
		const { signal: over } = ending;
		const end = () => ending.abort(workIsOver);
		this.#closing.signal.addEventListener("abort", end);
		if (this.#closing.signal.aborted) end();
		client.on("error", end);
		client.on("end", end);
		client.on("notification", ({ channel, payload }) => this.#deliver(payload ?? "", channel));
		// The library leaves some calls unanswered if the connection ends meanwhile.
		const unlessOver = (work: Promise<unknown>) => unlessAborted(work, over);
		try {
			await unlessOver(client.connect());
			for (const channel of this.#channels.keys()) {
				if (!over.aborted) await unlessOver(client.query(`listen ${quoteName(channel)}`));
			}
			if (over.aborted) return;
			this.#client = client;
			onReady();
			this.#deliver(null, null);
			while (!over.aborted) {
				await sleep(this.#clock, pingInterval, over, true);
				if (!over.aborted) await unlessOver(client.query("select 1"));
			}
		} finally {
			this.#closing.signal.removeEventListener("abort", end);
			this.#client = null;
			void client.end().catch(() => undefined);
		}
	}

	#deliver(payload: string | null, channel: string | null): void {
		for (const [known, listeners] of this.#channels) {
			if (channel === null || channel === known) for (const onPayload of listeners) onPayload(payload);
		}
	}
}

export function quoteName(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}
