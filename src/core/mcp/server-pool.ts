import type { McpServerSettings } from "../../api/mcp-servers.ts";
import { ServerConnection } from "./connection.ts";
import type { LinkParts, ServerPlace } from "./link.ts";
import type { ServerLease } from "./server-set.ts";

interface Shared {
	readonly connection: ServerConnection;
	holders: number;
}

export class ServerPool {
	readonly #parts: LinkParts;
	readonly #shared = new Map<string, Shared>();
	readonly #closing = new Set<Promise<void>>();

	constructor(parts: LinkParts) {
		this.#parts = parts;
	}

	/** Leases the connection, which closes with its last lease. */
	acquire(server: McpServerSettings, place: ServerPlace): ServerLease {
		const key = JSON.stringify([server, place]);
		const shared = this.#shared.get(key) ?? {
			connection: new ServerConnection(server, place, this.#parts),
			holders: 0,
		};
		this.#shared.set(key, shared);
		shared.holders += 1;
		let isHeld = true;
		return {
			connection: shared.connection,
			release: () => {
				if (!isHeld) return;
				isHeld = false;
				shared.holders -= 1;
				if (shared.holders === 0) this.#end(key, shared);
			},
		};
	}

	async close(): Promise<void> {
		for (const [key, shared] of this.#shared) this.#end(key, shared);
		await Promise.all(this.#closing);
	}

	#end(key: string, { connection }: Shared): void {
		this.#shared.delete(key);
		const closing = connection.close().finally(() => this.#closing.delete(closing));
		this.#closing.add(closing);
	}
}
