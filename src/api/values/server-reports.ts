// Finds MCP servers to report to people: those that cannot be used, whose tools are silently missing.
import type { McpStatus } from "./event.ts";

export interface UnusableServer {
	readonly name: string;
	/** It did not start, does not answer, or needs a sign-in. */
	readonly status: "failed" | "unauthorized";
}

export class ServerReports {
	/** The status last reported, by server name. */
	readonly #reported = new Map<string, UnusableServer["status"]>();

	/** Newly unusable servers. A server that recovers is reported again when it fails again. */
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
