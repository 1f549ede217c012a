// A separate operations server with health and metrics, for processes that serve no HTTP clients.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { AccessControl } from "./access/access.ts";
import type { Tokens } from "./access/tokens.ts";
import { HttpServer, type TlsFiles } from "./http-server.ts";
import { type Operations, sendHealth, sendText, toHealthPath } from "./operations.ts";
import { HttpRefusal, sendJson, toStatus } from "./replies.ts";
import { toFacts } from "./requests.ts";

/** Maximum connections, and milliseconds for the headers and for the whole request. */
const connectionLimit = 64;
const requestTime = 10_000;

export interface OperationsServerOptions {
	readonly host: string;
	readonly port: number;
	readonly tls: TlsFiles | null;
	readonly tokens: Pick<Tokens, "scopeOf">;
	readonly operations: Pick<Operations, "isReady"> & {
		metrics(): Promise<{ readonly type: string; readonly text: string }>;
	};
	readonly clock: Clock;
	readonly log: Log;
}

export interface OperationsServer {
	readonly port: number;
	close(): Promise<void>;
}

/** Starts to listen. Fails with the system error if the address is unusable. */
export async function startOperationsServer(options: OperationsServerOptions): Promise<OperationsServer> {
	const { host, port, tls, tokens, operations, clock, log } = options;
	// Without a token it answers only with one word, so any host name is accepted.
	const access = new AccessControl({ hosts: null, tokens, now: () => clock.monotonic() });
	const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		const health = toHealthPath(request);
		if (health !== null) {
			sendHealth(request, response, health === "/healthz" || (await operations.isReady()));
			return;
		}
		if (request.url?.split("?")[0] !== "/metrics") {
			throw new HttpRefusal(404, "Nothing at this path. Available: /metrics, /healthz and /readyz.");
		}
		if (request.method !== "GET") throw new HttpRefusal(405, "This path accepts only GET.", { allow: "GET" });
		const found = await access.check(toFacts(request));
		if (found.kind === "refused") {
			const challenge = found.status === 401 ? { "www-authenticate": "Bearer" } : {};
			throw new HttpRefusal(found.status, found.text, { ...challenge, connection: "close" });
		}
		const { type, text } = await operations.metrics();
		sendText(response, 200, type, text);
	};
	const listener = (request: IncomingMessage, response: ServerResponse): void => {
		response.on("error", () => {});
		// No request here has a body.
		request.resume();
		answer(request, response).catch((thrown: unknown) => {
			if (thrown instanceof HttpRefusal) {
				sendJson(response, thrown.status, { error: thrown.message }, thrown.headers);
				return;
			}
			const error = toKernelError(thrown);
			if (error.code === "internal") log.error("An operations request failed.", { error: thrown });
			sendJson(response, toStatus(error), { error: error.message, code: error.code });
		});
	};
	const server = new HttpServer({
		tls,
		times: { headers: requestTime, request: requestTime },
		connectionLimit,
		clock,
		onRequest: listener,
		onError: (error) => log.error("The operations server failed.", { error }),
	});
	return { port: await server.listen(port, host), close: () => server.close(0) };
}
