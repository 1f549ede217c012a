import type { McpServerSettings, McpServersChange } from "../../api/mcp-servers.ts";
import { defineMethod, type Method } from "../../ports/rpc/methods.ts";
import type { ClientSessions } from "./client-sessions.ts";
import { meerkatProtocol } from "./protocol.ts";
import type { McpResult, ServerConfig } from "./wire/wire-mcp.ts";

const { methods: shapes } = meerkatProtocol;

export class McpMethods {
	readonly #sessions: ClientSessions;

	constructor(sessions: ClientSessions) {
		this.#sessions = sessions;
	}

	readonly rows: readonly (readonly [string, Method])[] = [
		[
			"mcp/add",
			defineMethod({
				...shapes["mcp/add"],
				handle: ({ session_id, server_config }) =>
					this.#change(session_id, { kind: "add", server: toSettings(server_config) }),
			}),
		],
		[
			"mcp/remove",
			defineMethod({
				...shapes["mcp/remove"],
				handle: ({ session_id, server_name }) => this.#change(session_id, { kind: "remove", name: server_name }),
			}),
		],
		[
			"mcp/reload",
			defineMethod({
				...shapes["mcp/reload"],
				handle: ({ session_id, server_name }) => this.#change(session_id, { kind: "reload", name: server_name }),
			}),
		],
	];

	#change(id: string, change: McpServersChange): Promise<McpResult> {
		const target = change.kind === "add" ? change.server.name : change.name;
		return this.#sessions.using(id, async (handle) => {
			await handle.session.send({ type: "mcp-servers.change", change });
			const attached = await this.#sessions.attach(handle);
			if (change.kind === "remove") attached.unstageServer(change.name);
			else if (target !== null) attached.stageServer(change.kind, target);
			return {
				session_id: id,
				operation: change.kind,
				...(target === null ? {} : { server_name: target }),
				status: "staged",
				persisted: false,
			};
		});
	}
}

const everything: McpServerSettings["filter"] = { names: null, hidden: [], includeTags: null, excludeTags: [] };

function toSettings(config: ServerConfig): McpServerSettings {
	const common = { name: config.name, callTimeout: null, filter: everything };
	if ("command" in config) {
		const { command, args, env, cwd } = config;
		return { kind: "local", ...common, command, arguments: args ?? [], environment: env ?? {}, workDir: cwd };
	}
	return {
		kind: "remote",
		...common,
		url: config.url,
		transport: config.transport === "sse" ? "sse" : "http",
		headers: config.headers ?? {},
		authorization: { kind: "none" },
		readTimeout: null,
	};
}
