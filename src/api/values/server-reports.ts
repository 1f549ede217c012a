// Which MCP servers a person is to hear about: those that cannot be used, whose tools are missing without another word.
import type { McpStatus } from "./event.ts";

export interface UnusableServer {
	readonly name: string;
	/** It did not start or does not answer, or nobody has signed in to it. */
	readonly status: "failed" | "unauthorized";
}

export class ServerReports {
	/** By name: as what a server was reported. */
	readonly #reported = new Map<string, UnusableServer["status"]>();

	/** What is new of servers that cannot be used; one that could be used again is reported anew. */
	take({ servers }: McpStatus): readonly UnusableServer[] {
		return servers.flatMap(({ name, status }): readonly UnusableServer[] => {
			if (status === "connected") this.#reported.delete(name);
			if (status !== "failed" && status !== "unauthorized") return [];
			if (this.#reported.get(name) === status) return [];
			this.#reported.set(name, status);
			return [{ name, status }];
		});
	}
}
