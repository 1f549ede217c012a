import type { AuthProvider } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../api/mcp-servers.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { McpAuthorization } from "../../core/mcp/authorization.ts";
import type { LinkParts } from "../../core/mcp/link.ts";
import type { ListedTool } from "../../core/mcp/tool-list.ts";
import type { Place } from "../../host/place.ts";
import { productVersion } from "../../host/product.ts";
import { failureText } from "../../settings/credentials/mcp-request.ts";
import type { McpChallenge } from "../../settings/credentials/mcp-sign-in.ts";

/** The connection failed. The message is on one line and contains no secrets. */
export class McpConnectionError extends Error {
	override readonly name: string;
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

/** Milliseconds in total. Starting a program may include downloading it. */
const patience = 120_000;

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
	/** The server's sign-in challenge; null if it did not send one. */
	readonly challenge: McpChallenge | null;
	/** Why no valid tokens are available, as a clause. */
	readonly refusal: string | null;
}

/** Sends requests even without a sign-in: the response then says how to sign in. */
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
