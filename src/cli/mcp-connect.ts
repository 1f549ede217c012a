// Connects to an MCP server once, for the commands that try one out, and lists its tools. The library starts the programs
// of local servers itself.
import type { AuthProvider, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../base/clock.ts";
import { createDeferred } from "../base/deferred.ts";
import { failureText } from "../credentials/mcp-request.ts";
import type { McpChallenge } from "../credentials/mcp-sign-in.ts";
import type { Fetch } from "../network/network.ts";
import type { LocalMcpServer, McpServer, RemoteMcpServer } from "./mcp-server.ts";
import { type Place, toAbsolutePath } from "./paths.ts";
import { productName, productVersion } from "./version.ts";

export interface McpTool {
	readonly name: string;
	readonly description: string;
}

/** The connection could not be made. The message has no secrets in it and is on one line. */
export class McpConnectionError extends Error {
	/** What kind of failure it is, for people. */
	override readonly name: string;
	/** What the server said about signing in, when that is what it wants. */
	readonly challenge: McpChallenge | null;

	constructor(name: string, message: string, challenge: McpChallenge | null) {
		super(message);
		this.name = name;
		this.challenge = challenge;
	}
}

export interface ConnectSettings {
	/** For a server with OAuth; null when nobody has signed in there. */
	readonly authProvider: AuthProvider | null;
	/** For remote servers. */
	readonly fetch: Fetch;
	readonly environment: Readonly<Record<string, string>>;
	readonly place: Place;
	readonly clock: Clock;
	readonly signal: AbortSignal;
}

/** Milliseconds for all of it. Programs may have to be downloaded before they start. */
const patience = 120_000;

interface Way {
	readonly transport: Transport;
	/** What the server said about signing in; null when it did not ask for it. */
	challenge(): McpChallenge | null;
	/** What a program wrote to its stderr. Call it once the transport is closed. */
	complaint(): string;
}

/** The tools of the server. Throws McpConnectionError. */
export async function listMcpTools(server: McpServer, settings: ConnectSettings): Promise<readonly McpTool[]> {
	const { Client, SdkHttpError, UnauthorizedError } = await import("@modelcontextprotocol/client");
	const way = server.kind === "local" ? await startLocal(server, settings) : await reachRemote(server, settings);
	const client = new Client({ name: productName, version: productVersion });
	try {
		const { tools } = await inTime(settings, async () => {
			await client.connect(way.transport, { timeout: patience });
			return await client.listTools(undefined, { timeout: patience });
		});
		return tools.map(({ name, description = "" }) => ({ name, description }));
	} catch (thrown) {
		await close(way.transport);
		if (thrown instanceof McpConnectionError) throw thrown;
		const isTurnedAway =
			thrown instanceof UnauthorizedError || (thrown instanceof SdkHttpError && thrown.status === 401);
		const name = thrown instanceof Error ? thrown.name : "Error";
		const complaint = way.complaint();
		const message = complaint === "" ? failureText(thrown) : `${failureText(thrown)} (it wrote: ${complaint})`;
		throw new McpConnectionError(name, message, isTurnedAway ? way.challenge() : null);
	} finally {
		await close(way.transport);
	}
}

/** Fine when it is closed already. */
async function close(transport: Transport): Promise<void> {
	await transport.close().catch(() => undefined);
}

/** Waits for the work until it is stopped or takes too long: not everything in the library heeds a signal. */
async function inTime<T>({ clock, signal }: ConnectSettings, work: () => Promise<T>): Promise<T> {
	const ended = createDeferred<never>();
	const stop = () => ended.reject(new McpConnectionError("Interrupted", "it was stopped", null));
	const withdraw = clock.after(patience, () => {
		ended.reject(new McpConnectionError("Timeout", `no answer within ${patience / 1000} seconds`, null));
	});
	signal.addEventListener("abort", stop, { once: true });
	if (signal.aborted) stop();
	try {
		return await Promise.race([ended.promise, work()]);
	} finally {
		withdraw();
		signal.removeEventListener("abort", stop);
	}
}

/** Bytes of what a program writes to its stderr that are looked at. */
const complaintLimit = 100_000;

async function startLocal(server: LocalMcpServer, { environment, place }: ConnectSettings): Promise<Way> {
	const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
	const transport = new StdioClientTransport({
		command: server.command,
		args: [...server.arguments],
		env: { ...environment, ...server.environment },
		cwd: toAbsolutePath(server.workDir ?? ".", place),
		stderr: "pipe",
	});
	let written = "";
	transport.stderr?.on("data", (bytes: Buffer) => {
		written = (written + bytes.toString("utf8")).slice(-complaintLimit);
	});
	return {
		transport,
		challenge: () => null,
		complaint: () => failureText(written.trim().split("\n").slice(-3).join(" ")),
	};
}

async function reachRemote(server: RemoteMcpServer, { authProvider, fetch }: ConnectSettings): Promise<Way> {
	const library = await import("@modelcontextprotocol/client");
	const { SSEClientTransport, StreamableHTTPClientTransport, UnauthorizedError, extractWWWAuthenticateParams } =
		library;
	const { authorization, headers, url } = server;
	let challenge: McpChallenge | null = null;
	const watched: AuthProvider = {
		token: async () => await authProvider?.token(),
		async onUnauthorized(context) {
			const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(context.response);
			challenge = {
				...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
				...(scope === undefined ? {} : { scope }),
			};
			if (authProvider === null) throw new UnauthorizedError("nobody has signed in");
			await authProvider.onUnauthorized?.(context);
		},
	};
	const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
	const bearer = authorization.kind === "bearer" && !hasOwn ? { Authorization: `Bearer ${authorization.token}` } : {};
	const options = {
		fetch,
		requestInit: { headers: { ...headers, ...bearer } },
		...(authorization.kind === "oauth" ? { authProvider: watched } : {}),
	};
	const transport =
		server.transport === "sse"
			? new SSEClientTransport(new URL(url), options)
			: new StreamableHTTPClientTransport(new URL(url), options);
	return { transport, challenge: () => challenge, complaint: () => "" };
}
