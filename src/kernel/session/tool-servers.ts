// The MCP servers of a session: loaded when the first client is served, told of in turns, given up at the end.
// Connecting, and what the servers offer, is src/mcp/.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type EventBody, type McpStatus, statusChanged } from "../../events/event.ts";
import type { ServerSet, ServerSetSettings } from "../../mcp/server-set.ts";
import type { Tool } from "../../tools/tool.ts";

/** What a session's servers want of the session. */
export type ServerNeeds = Pick<ServerSetSettings, "isTaken" | "questions">;

/** The servers as a session uses them. */
export type SessionServers = Pick<ServerSet, "begin" | "isLoading" | "loaded" | "retry" | "tools" | "status" | "end">;

/** Loads all that it takes, and connects to nothing yet. */
export type LoadServers = (needs: ServerNeeds) => Promise<SessionServers>;

/** Milliseconds that a client has for its first answer before anything is loaded. */
const delay = 20;
/** Milliseconds that a turn has to come to its first step, where it begins them itself and tells of it. */
const turnDelay = 1000;

/** Whether a server is missing that a person counts on; one to sign in to is not. */
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
	/** What clients were told last, as JSON; null for nothing. */
	#delivered: string | null = null;

	constructor(load: () => Promise<SessionServers>, clock: Clock, log: Log) {
		this.#load = load;
		this.#clock = clock;
		this.#log = log;
	}

	/** The tools there are now. */
	tools(): readonly Tool[] {
		return this.#set?.tools() ?? [];
	}

	/** A client is there: connecting begins, once it has been answered. */
	beginSoon(): void {
		if (this.#withdraw === null) this.#schedule(delay);
	}

	/** A turn starts: what has not begun begins with its first step. */
	turnStarts(): void {
		if (this.#loading === null) this.#schedule(turnDelay);
	}

	/**
	 * Before the first step of a turn: waits for servers that are still connecting, and tells how they are if that is news.
	 * A server that is not there is told of in the next turn at the latest (wire-protocol §4.15, §11.1 row 23). It is tried
	 * again meanwhile: nothing waits for that, and what comes of it is told in the turn behind.
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

	/** Gives the servers up. */
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
				// A later turn may find them.
				this.#loading = null;
				this.#log.error("The MCP servers could not be loaded.", { error: thrown });
			},
		);
		return this.#loading;
	}
}
