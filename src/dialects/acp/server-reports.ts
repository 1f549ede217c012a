// Reports to a person which MCP servers cannot be used: their tools are missing, and nothing else would say so.
import type { McpStatus } from "../../events/event.ts";
import { quoted } from "./errors.ts";

export interface ServerReport {
	/** The server's. */
	readonly name: string;
	readonly title: string;
	readonly description: string;
}

const reasons = {
	failed: "It did not start, or does not answer. Its tools are missing; the log has the reason.",
	unauthorized: "It wants a sign-in. Its tools are missing until then.",
} as const;

export class ServerReports {
	/** By name: as what a server was reported. */
	readonly #reported = new Map<string, string>();

	/** What is new of servers that cannot be used; one that could be used again is reported anew. */
	take({ servers }: McpStatus): readonly ServerReport[] {
		return servers.flatMap(({ name, status }): readonly ServerReport[] => {
			if (status === "connected") this.#reported.delete(name);
			if (status !== "failed" && status !== "unauthorized") return [];
			if (this.#reported.get(name) === status) return [];
			this.#reported.set(name, status);
			return [{ name, title: `The MCP server ${quoted(name)} cannot be used`, description: reasons[status] }];
		});
	}
}
