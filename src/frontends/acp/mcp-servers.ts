import type { McpServerSettings } from "../../api/mcp-servers.ts";
import type { McpServer } from "./wire.ts";

const everything: McpServerSettings["filter"] = { names: null, hidden: [], includeTags: null, excludeTags: [] };

export function toMcpServers(servers: readonly McpServer[]): readonly McpServerSettings[] {
	return [...new Map(servers.map((server) => [server.name, toSettings(server)])).values()];
}

function toSettings(server: McpServer): McpServerSettings {
	const common = { name: server.name, callTimeout: null, filter: everything };
	if ("command" in server) {
		const { command, args, env } = server;
		return { kind: "local", ...common, command, arguments: args, environment: byName(env), workDir: null };
	}
	const { url, type, headers } = server;
	return {
		kind: "remote",
		...common,
		url,
		transport: type,
		headers: byName(headers),
		authorization: { kind: "none" },
		readTimeout: null,
	};
}

function byName(
	values: readonly { readonly name: string; readonly value: string }[],
): Readonly<Record<string, string>> {
	return Object.fromEntries(values.map(({ name, value }) => [name, value]));
}
