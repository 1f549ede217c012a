// The authorization server redirects the browser here. mcp-oauth.ts interprets the response.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { McpSignInError } from "./mcp-sign-in-error.ts";

export interface CallbackOptions {
	readonly state: string;
	/** Null means any free port. */
	readonly port: number | null;
	readonly signal: AbortSignal;
	readonly clock: Clock;
}

export interface Callback {
	readonly redirectUrl: string;
	/** The response parameters. Rejects with McpSignInError if none arrive in time. */
	readonly answer: Promise<URLSearchParams>;
	close(): void;
}

/** Milliseconds the user gets. */
const patience = 5 * 60_000;
const callbackPath = "/callback";

export async function listenForCallback({ state, port, signal, clock }: CallbackOptions): Promise<Callback> {
	const answer = createDeferred<URLSearchParams>();
	// It may reject before it is awaited.
	answer.promise.catch(() => undefined);
	const server = createServer((request, response) => {
		const parameters = readAnswer(request);
		if (parameters === null) return sendPage(response, 404, "There is nothing here.");
		if (parameters.get("state") !== state) {
			return sendPage(response, 400, "This does not belong to the sign-in in progress.");
		}
		const isGranted = parameters.has("code");
		// Only after the page was sent: the process may exit at once.
		response.once("close", () => answer.resolve(parameters));
		sendPage(response, 200, isGranted ? "Permission was given." : "Permission was not given.");
	});
	const stop = () => answer.reject(new McpSignInError("it was interrupted"));
	const withdraw = clock.after(patience, () => {
		answer.reject(new McpSignInError(`nobody signed in within ${patience / 60_000} minutes`));
	});
	signal.addEventListener("abort", stop, { once: true });
	if (signal.aborted) stop();
	const close = () => {
		withdraw();
		signal.removeEventListener("abort", stop);
		server.close();
		server.closeAllConnections();
	};
	try {
		const taken = await new Promise<number>((resolve, reject) => {
			server.once("error", reject);
			server.listen(port ?? 0, "127.0.0.1", () => {
				const address = server.address();
				if (typeof address === "object" && address !== null) resolve(address.port);
			});
		});
		return { redirectUrl: `http://127.0.0.1:${taken}${callbackPath}`, answer: answer.promise, close };
	} catch (thrown) {
		close();
		throw thrown;
	}
}

function readAnswer({ method, url = "" }: IncomingMessage): URLSearchParams | null {
	const start = `${callbackPath}?`;
	return method === "GET" && url.startsWith(start) ? new URLSearchParams(url.slice(start.length)) : null;
}

function sendPage(response: ServerResponse, status: number, text: string): void {
	response.writeHead(status, {
		"content-type": "text/html; charset=utf-8",
		"cache-control": "no-store",
		"content-security-policy": "default-src 'none'",
		// The page URL contains the code.
		"referrer-policy": "no-referrer",
		connection: "close",
	});
	response.end(
		`<!doctype html><html lang="en"><title>agentwire</title><p>${text} You can close this page.</p></html>\n`,
	);
}
