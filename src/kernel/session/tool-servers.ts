// Loaded for the first client, reported in turns, released at the end. src/core/mcp/ has the connections.

import type { McpServerSettings, McpServersChange } from "../../api/mcp-servers.ts";
import { type EventBody, type McpStatus, statusChanged } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ServerSet, ServerSetSettings } from "../../core/mcp/server-set.ts";
import type { Tool } from "../../core/tools/tool.ts";

export type ServerNeeds = Pick<ServerSetSettings, "isTaken" | "questions">;

export type SessionServers = Pick<ServerSet, "begin" | "isLoading" | "loaded" | "retry" | "tools" | "status" | "end">;

export type LoadServers = (needs: ServerNeeds, servers: readonly McpServerSettings[]) => Promise<SessionServers>;
export type SetLoader = (servers: readonly McpServerSettings[]) => Promise<SessionServers>;

const maximumServers = 100;

/** Milliseconds to let the client get its first answer before loading. */
const delay = 20;
/** Milliseconds for a turn to reach its first step, which connects and reports the servers itself. */
const turnDelay = 1000;

/** Whether a required server is missing. A server that needs a sign-in does not count. */
function isAnyAway({ servers }: McpStatus): boolean {
	return servers.some(({ status }) => status !== "connected" && status !== "unauthorized");
}

export class ToolServers {
	readonly #load: SetLoader;
	readonly #clock: Clock;
	readonly #log: Log;
	#loading: Promise<void> | null = null;
	#set: SessionServers | null = null;
	#withdraw: (() => void) | null = null;
	#isEnded = false;
	/** Servers of the next turn, in order. */
	#wanted: readonly McpServerSettings[];
	/** Changes since the last turn: null for none, else the names of servers to restart. */
	#reloaded: ReadonlySet<string> | null = null;
	/** The status last sent to clients, as JSON, or null. */
	#delivered: string | null = null;

	constructor(load: SetLoader, servers: readonly McpServerSettings[], clock: Clock, log: Log) {
		this.#load = load;
		this.#wanted = servers;
		this.#clock = clock;
		this.#log = log;
	}

	tools(): readonly Tool[] {
		return this.#set?.tools() ?? [];
	}

	/** Changes the servers, starting with the next turn. Fails with `invalid-input` when a server to reload is unknown. */
	change(change: McpServersChange): void {
		const reloaded = new Set(this.#reloaded);
		switch (change.kind) {
			case "add": {
				const { server } = change;
				const others = this.#wanted.filter(({ name }) => name !== server.name);
				if (others.length >= maximumServers) {
					throw new KernelError("invalid-input", `A session can use at most ${maximumServers} MCP servers.`);
				}
				this.#wanted = [...others, server];
				break;
			}
			case "remove":
				this.#wanted = this.#wanted.filter(({ name }) => name !== change.name);
				break;
			case "reload": {
				const names = this.#wanted.map(({ name }) => name);
				if (change.name !== null && !names.includes(change.name)) {
					const known = names.join(", ") || "none";
					throw new KernelError(
						"invalid-input",
						`The session uses no MCP server ${JSON.stringify(change.name)}. Those that it uses: ${known}.`,
					);
				}
				for (const name of change.name === null ? names : [change.name]) reloaded.add(name);
			}
		}
		this.#reloaded = reloaded;
	}

	/** A client has attached: connects once the client has been answered. */
	beginSoon(): void {
		if (this.#withdraw === null) this.#schedule(delay);
	}

	/** A turn starts: if not begun yet, connecting begins with its first step. */
	turnStarts(): void {
		if (this.#loading === null) this.#schedule(turnDelay);
	}

	/** Waits for connecting servers and emits a changed status (wire-protocol §4.15, §11.1 row 23). */
	async prepareTurn(emit: (body: EventBody) => Promise<void> | undefined, signal: AbortSignal): Promise<void> {
		await this.#begin();
		await this.#applyChanges();
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

	async #applyChanges(): Promise<void> {
		const reloaded = this.#reloaded;
		if (reloaded === null || this.#isEnded) return;
		this.#reloaded = null;
		try {
			// A connection ends with the last set that contains it.
			if (reloaded.size > 0) await this.#replace(this.#wanted.filter(({ name }) => !reloaded.has(name)));
			await this.#replace(this.#wanted);
		} catch (thrown) {
			// A later turn retries.
			this.#reloaded ??= reloaded;
			this.#log.error("The MCP servers could not be changed.", { error: thrown });
		}
	}

	async #replace(servers: readonly McpServerSettings[]): Promise<void> {
		const set = await this.#load(servers);
		if (this.#isEnded) return;
		set.begin();
		this.#set?.end();
		this.#set = set;
	}

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

	async #begin(): Promise<void> {
		if (this.#loading === null && this.#wanted.length === 0) return;
		if (this.#loading === null) {
			// The first load includes all changes.
			this.#reloaded = null;
			this.#loading = this.#load(this.#wanted).then(
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
		}
		await this.#loading;
	}
}
