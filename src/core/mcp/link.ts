import path from "node:path";
import type { Client, ElicitRequest, ElicitResult, FetchLike, Transport } from "@modelcontextprotocol/client";
import type { LocalMcpServer, McpServerSettings, RemoteMcpServer } from "../../api/mcp-servers.ts";
import { orAbort } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Processes } from "../../ports/processes/port.ts";
import { withTrustedPath } from "../../ports/processes/search-path.ts";
import type { McpAuthorization } from "./authorization.ts";
import { ChildTransport } from "./child-transport.ts";
import { boundMessages } from "./messages/incoming-message.ts";
import { boundNotifications } from "./messages/notification-bound.ts";
import { boundRequests, excessReason } from "./messages/request-bound.ts";
import { watchPermissions } from "./permissions.ts";
import { createRemoteTransport, endGivenUpStreams } from "./remote-transport.ts";
import { createServerLog } from "./server-log.ts";

export type ElicitParams = ElicitRequest["params"];

export interface LinkParts {
	readonly processes: Processes;
	readonly authorization: McpAuthorization;
	readonly fetch: FetchLike;
	readonly clock: Clock;
	readonly log: Log;
	readonly version: string;
}

export interface ServerPlace {
	/** The absolute project directory. Programs only start there if their entry says so. */
	readonly workDir: string;
	/** The absolute start directory of programs without `cwd`. */
	readonly startDir: string;
	readonly environment: Readonly<Record<string, string>>;
}

export interface LinkHandlers {
	toolsChanged(): void;
	elicit(params: ElicitParams, signal: AbortSignal): Promise<ElicitResult>;
	/** The link ended unexpectedly; `reason` is a clause. */
	lost(reason: string): void;
}

/** Protocol versions before 2026-07-28, or from it on. All servers are tried with the old handshake first. */
export type Era = "old" | "new";

export interface Link {
	readonly client: Client;
	close(): Promise<void>;
}

export class NotSignedIn extends Error {
	override readonly name = "NotSignedIn";
}

/** Milliseconds for the first answer; programs may have to be downloaded first. */
const startPatience = 600_000;
/** Milliseconds to end the session on the server. */
const farewellPatience = 200;

export async function openLink(
	server: McpServerSettings,
	place: ServerPlace,
	parts: LinkParts,
	handlers: LinkHandlers,
	{ era, signal }: { readonly era: Era; readonly signal: AbortSignal },
): Promise<Link> {
	const { library, transport, reason, takeLeave } = await (server.kind === "local"
		? prepareLocal(server, place, parts)
		: prepareRemote(server, parts));
	const client = new library.Client(
		{ name: "agentwire", version: parts.version },
		{
			versionNegotiation: { mode: era === "old" ? "legacy" : "auto" },
			capabilities: { elicitation: { form: {} } },
			listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => handlers.toolsChanged() } },
		},
	);
	client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => handlers.elicit(params, mcpReq.signal));
	client.onerror = (error) => parts.log.debug("MCP connection error.", { server: server.name, error });
	let isOpen = false;
	let excess: string | null = null;
	let closing: Promise<void> | null = null;
	const close = () => {
		closing ??= (async () => {
			const late = new AbortController();
			if (isOpen) await Promise.race([takeLeave(), sleep(parts.clock, farewellPatience, late.signal)]);
			late.abort();
			await client.close();
			await transport.close();
		})();
		return closing;
	};
	client.onclose = () => {
		if (isOpen && closing === null) handlers.lost(excess ?? reason() ?? "the connection broke off");
	};
	let ended: Error | null = null;
	transport.onerror = (error) => {
		// All answers would have come on this one stream; the library would open another.
		if (!(error instanceof library.SseError)) return;
		ended ??= error;
		void client.close();
	};
	const late = new AbortController();
	const withdraw = parts.clock.after(startPatience, () =>
		late.abort(new Error(`no answer within ${startPatience / 1000} seconds`)),
	);
	try {
		// The library's timeout does not include the wait for the event stream.
		const either = AbortSignal.any([signal, late.signal]);
		await orAbort(client.connect(transport, { timeout: startPatience, signal: either }), either);
		if (client.transport === undefined) throw new Error("the connection broke off");
	} catch (thrown) {
		const why = reason();
		await close();
		// The library only knows that the program exited, not why.
		throw why === null ? (ended ?? thrown) : new Error(why);
	} finally {
		withdraw();
	}
	isOpen = true;
	if (server.kind === "remote") {
		boundMessages(transport);
		endGivenUpStreams(transport, parts.clock);
	}
	boundRequests(transport, () => {
		parts.log.warn("An MCP server sends too many requests.", { server: server.name });
		excess = excessReason;
		void client.close();
	});
	boundNotifications(transport, parts.clock, () =>
		parts.log.warn("An MCP server sends too many notifications: some are ignored.", {
			server: server.name,
		}),
	);
	return { client, close };
}

interface Prepared {
	readonly library: typeof import("@modelcontextprotocol/client");
	readonly transport: Transport;
	/** Why the transport is closed, as a clause, if known. */
	reason(): string | null;
	takeLeave(): Promise<void>;
}

async function prepareLocal(server: LocalMcpServer, place: ServerPlace, parts: LinkParts): Promise<Prepared> {
	const { processes, clock, log } = parts;
	// The program starts while the library is being loaded.
	const named = (text: string) => text.replace(/\$\{workDir\}/g, () => place.workDir);
	const variables = Object.entries(server.environment).map(([name, value]) => [name, named(value)]);
	const transport = new ChildTransport({
		request: {
			file: server.command,
			arguments: server.arguments.map(named),
			workDir: server.workDir === null ? place.startDir : path.resolve(place.workDir, server.workDir),
			environment: {
				...withTrustedPath(place.environment),
				AGENTWIRE_WORK_DIR: place.workDir,
				...Object.fromEntries(variables),
			},
		},
		processes,
		clock,
		log: createServerLog(server.name, clock, log),
	});
	const library = await import("@modelcontextprotocol/client");
	return { library, transport, reason: () => transport.reason(), takeLeave: async () => {} };
}

async function prepareRemote(server: RemoteMcpServer, parts: LinkParts): Promise<Prepared> {
	const isSigned = server.authorization.kind === "oauth";
	const signer = isSigned ? await parts.authorization.provider(server.url) : null;
	if (isSigned && signer === null) throw new NotSignedIn();
	const library = await import("@modelcontextprotocol/client");
	const { authorization, clock } = parts;
	const fetch = isSigned ? watchPermissions(parts.fetch, library, authorization, server.url) : parts.fetch;
	const transport = createRemoteTransport(library, { server, signer, fetch, clock });
	return { library, transport, reason: () => null, takeLeave: () => transport.takeLeave().catch(() => {}) };
}
