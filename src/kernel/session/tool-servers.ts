// The MCP servers of a session: loaded when the first client is served, reported in turns, released at the end. The
// connections, and what the servers offer, are in src/mcp/.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type EventBody, type McpStatus, statusChanged } from "../../events/event.ts";
import type { ServerSet, ServerSetSettings } from "../../mcp/server-set.ts";
import type { Tool } from "../../tools/tool.ts";

/** What a session's servers need of the session. */
export type ServerNeeds = Pick<ServerSetSettings, "isTaken" | "questions">;

/** The servers as a session uses them. */
export type SessionServers = Pick<ServerSet, "begin" | "isLoading" | "loaded" | "retry" | "tools" | "status" | "end">;

/** Loads the code and settings of the servers; connects to none yet. */
export type LoadServers = (needs: ServerNeeds) => Promise<SessionServers>;

/** Milliseconds reserved for the client's first answer before anything is loaded. */
const delay = 20;
/** Milliseconds for a turn to reach its first step, where it connects and reports the servers itself. */
const turnDelay = 1000;

/** Whether a server that a person relies on is missing; one that needs a sign-in is not. */
function isAnyAway({ servers }: McpStatus): boolean {
	return servers.some(({ status }) => status !== "connected" && status !== "unauthorized");
}

export class ToolServers {
	readonly #load: () => Promise<SessionServers>;
	readonly #clock: Clock;
	readonly #log: Log;
	#loading: Promise<void> | null = null;
	#set: SessionServers | null = null;
	#withdraw: (() => void) | null = null;
	#isEnded = false;
	/** The status that clients received last, as JSON; null for none. */
	#delivered: string | null = null;

	constructor(load: () => Promise<SessionServers>, clock: Clock, log: Log) {
		this.#load = load;
		this.#clock = clock;
		this.#log = log;
	}

	/** The tools available now. */
	tools(): readonly Tool[] {
		return this.#set?.tools() ?? [];
	}

	/** A client has attached: connecting starts once it has been answered. */
	beginSoon(): void {
		if (this.#withdraw === null) this.#schedule(delay);
	}

	/** A turn starts: unless connecting has begun, it begins with the turn's first step. */
	turnStarts(): void {
		if (this.#loading === null) this.#schedule(turnDelay);
	}

	/**
	 * Before the first step of a turn: waits for servers that are still connecting, and emits their status if it
	 * changed. A missing server is reported in the next turn at the latest (wire-protocol §4.15, §11.1 row 23).
	 * Meanwhile the connection is retried; nothing waits for that, and the result is reported in the turn after.
	 */
	async prepareTurn(emit: (body: EventBody) => Promise<void> | undefined, signal: AbortSignal): Promise<void> {
		await this.#begin();
		const set = this.#set;
		if (set === null) return;
		const deliver = async () => {
			const status = set.status();
			this.#delivered = JSON.stringify(status);
			await emit(statusChanged({ mcp_status: status }));
		};
		if (set.isLoading) {
			await deliver();
			await emit({ type: "mcp.loading-started" });
			await set.loaded(signal);
			await deliver();
			await emit({ type: "mcp.loading-ended" });
			return;
		}
		const status = set.status();
		const isNews = this.#delivered === null ? isAnyAway(status) : this.#delivered !== JSON.stringify(status);
		if (isNews) await deliver();
		set.retry();
	}

	/** Releases the servers. */
	end(): void {
		this.#isEnded = true;
		this.#withdraw?.();
		this.#set?.end();
	}

	#schedule(milliseconds: number): void {
		this.#withdraw?.();
		this.#withdraw = this.#clock.after(milliseconds, () => {
			if (!this.#isEnded) void this.#begin();
		});
	}

	#begin(): Promise<void> {
		this.#loading ??= this.#load().then(
			(set) => {
				if (this.#isEnded) return;
				this.#set = set;
				set.begin();
			},
			(thrown: unknown) => {
				// A later turn retries.
				this.#loading = null;
				this.#log.error("The MCP servers could not be loaded.", { error: thrown });
			},
		);
		return this.#loading;
	}
}
