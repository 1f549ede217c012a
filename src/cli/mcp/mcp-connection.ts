// Connects to an MCP server once, as a session would, for the commands that try one out, and lists its tools.
import type { AuthProvider } from "@modelcontextprotocol/client";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { McpAuthorization } from "../../core/mcp/authorization.ts";
import type { LinkParts } from "../../core/mcp/link.ts";
import type { ListedTool } from "../../core/mcp/tool-list.ts";
import type { Place } from "../../host/place.ts";
import { productVersion } from "../../host/product.ts";
import type { McpServerSettings } from "../../settings/config/mcp-servers.ts";
import { failureText } from "../../settings/credentials/mcp-request.ts";
import type { McpChallenge } from "../../settings/credentials/mcp-sign-in.ts";

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

export interface ConnectSettings extends Pick<LinkParts, "processes" | "authorization" | "fetch" | "clock"> {
	readonly environment: Readonly<Record<string, string>>;
	readonly place: Place;
	readonly shareDir: string;
	readonly signal: AbortSignal;
}

/** Milliseconds for all of it. Programs may have to be downloaded before they start. */
const patience = 120_000;

/** The tools of the server; nothing is left running. Throws McpConnectionError. */
export async function listMcpTools(
	server: McpServerSettings,
	settings: ConnectSettings,
): Promise<readonly ListedTool[]> {
	const { ServerConnection } = await import("../../core/mcp/connection.ts");
	const { environment, place, shareDir } = settings;
	const authorization = watchAuthorization(settings.authorization);
	const parts = { ...settings, authorization, log: silentLog, version: productVersion };
	const connection = new ServerConnection(
		server,
		{ workDir: place.currentDir, startDir: shareDir, environment },
		parts,
	);
	try {
		await inTime(settings, () => connection.connect());
		const { failure, tools } = connection;
		if (failure === null) return tools;
		if (failure.kind !== "unauthorized") throw new McpConnectionError(failure.name, failure.reason, null);
		const { challenge, refusal } = authorization.seen();
		throw new McpConnectionError(failure.name, refusal ?? failure.reason, challenge);
	} finally {
		await connection.close();
	}
}

/** Waits for the work until it is stopped or takes too long. */
async function inTime({ clock, signal }: ConnectSettings, work: () => Promise<void>): Promise<void> {
	const ended = createDeferred<never>();
	const stop = () => ended.reject(new McpConnectionError("Interrupted", "it was stopped", null));
	const withdraw = clock.after(patience, () => {
		ended.reject(new McpConnectionError("Timeout", `no answer within ${patience / 1000} seconds`, null));
	});
	signal.addEventListener("abort", stop, { once: true });
	if (signal.aborted) stop();
	try {
		await Promise.race([ended.promise, work()]);
	} finally {
		withdraw();
		signal.removeEventListener("abort", stop);
	}
}

interface Seen {
	/** What the server said about signing in; null when it did not ask for it. */
	readonly challenge: McpChallenge | null;
	/** Why there are no tokens that it takes, as a clause. */
	readonly refusal: string | null;
}

/** Asks the server also where nobody has signed in: it says then how to do that. */
function watchAuthorization(inner: McpAuthorization): McpAuthorization & { seen(): Seen } {
	let challenge: McpChallenge | null = null;
	let refusal: string | null = null;
	const watch = (provider: AuthProvider | null): AuthProvider => ({
		token: async () => await provider?.token(),
		async onUnauthorized(context) {
			const { UnauthorizedError, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
			const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(context.response);
			challenge = {
				...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
				...(scope === undefined ? {} : { scope }),
			};
			try {
				if (provider === null) throw new UnauthorizedError("nobody has signed in");
				await provider.onUnauthorized?.(context);
			} catch (thrown) {
				refusal = failureText(thrown);
				throw thrown;
			}
		},
	});
	return {
		provider: async (url) => watch(await inner.provider(url)),
		needs: (url, permissions) => inner.needs(url, permissions),
		settled: () => inner.settled(),
		seen: () => ({ challenge, refusal }),
	};
}
