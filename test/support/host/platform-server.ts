// The managed platform on loopback: signing in, renewing with refresh tokens that are good once, models and answers.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

export interface PlatformRequestSeen {
	readonly method: string;
	readonly path: string;
	/** The fields of a form; empty for other bodies. */
	readonly form: Readonly<Record<string, string>>;
	readonly authorization: string | null;
}

export interface PlatformServer {
	/** Without a slash at the end; the API is below `/v1`. */
	readonly url: string;
	readonly requests: readonly PlatformRequestSeen[];
	/** What questions with a device code are answered before the tokens are given: a standard's code or a status. */
	readonly beforeGrant: (string | number)[];
	/** What the models are. */
	models: readonly Readonly<Record<string, unknown>>[];
	/** Merged over the answer to whoever asks for a code. */
	device: Readonly<Record<string, unknown>>;
	/** Merged over the answer with tokens; a null removes its key. */
	grant: Readonly<Record<string, unknown>>;
	/** Waited for before a refresh token is looked at. */
	beforeRefresh: () => Promise<void>;
	/** When not null, the status of the answer to whoever asks the API, whatever the token. */
	refusal: number | null;
	/** When not null, the answer to whoever brings a refresh token. */
	refreshFailure: { readonly status: number; readonly body: unknown } | null;
	/** Makes new tokens, as a sign-in does: those before are not good any more. */
	issue(): { readonly access_token: string; readonly refresh_token: string };
	/** From now on no access token is good but those issued later. */
	revokeAccess(): void;
	/** From now on every access token is refused. */
	refuseAccess(): void;
	/** How many refresh tokens were exchanged for new ones, and how many were brought a second time. */
	readonly refreshes: number;
	readonly reuses: number;
	close(): Promise<void>;
}

export async function startPlatformServer(): Promise<PlatformServer> {
	const requests: PlatformRequestSeen[] = [];
	let issued = 0;
	let access: string | null = null;
	let refresh: string | null = null;
	let isClosed = false;
	let refreshes = 0;
	let reuses = 0;

	const grantTokens = (response: ServerResponse) => {
		const answer = { ...server.issue(), expires_in: 3600, token_type: "Bearer", scope: "all", ...server.grant };
		sendJson(response, 200, Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null)));
	};

	const answerToken = async (form: Readonly<Record<string, string>>, response: ServerResponse) => {
		if (form["grant_type"] === "urn:ietf:params:oauth:grant-type:device_code") {
			const next = server.beforeGrant.shift();
			if (next === undefined && form["device_code"] === "device-secret-1") grantTokens(response);
			else if (typeof next === "number") sendJson(response, next, "<html>");
			else sendJson(response, 400, { error: next ?? "invalid_grant" });
			return;
		}
		await server.beforeRefresh();
		if (server.refreshFailure !== null) {
			sendJson(response, server.refreshFailure.status, server.refreshFailure.body);
		} else if (form["grant_type"] === "refresh_token" && form["refresh_token"] === refresh) {
			refreshes += 1;
			grantTokens(response);
		} else {
			reuses += 1;
			sendJson(response, 400, { error: "invalid_grant", error_description: `used: ${form["refresh_token"]}` });
		}
	};

	const answer = async (seen: PlatformRequestSeen, response: ServerResponse) => {
		const isWelcome = !isClosed && access !== null && seen.authorization === `Bearer ${access}`;
		const refused = { error: { message: "Invalid Authentication", type: "invalid_authentication_error" } };
		if (server.refusal !== null && seen.path.startsWith("/v1/")) {
			return sendJson(response, server.refusal, {
				error: { message: "Not for this client", type: "access_terminated" },
			});
		}
		switch (`${seen.method} ${seen.path}`) {
			case "POST /api/oauth/device_authorization":
				return sendJson(response, 200, {
					device_code: "device-secret-1",
					user_code: "ABCD-1234",
					verification_uri: `${server.url}/device`,
					verification_uri_complete: `${server.url}/device?code=ABCD-1234`,
					expires_in: 600,
					interval: 0.02,
					...server.device,
				});
			case "POST /api/oauth/token":
				return await answerToken(seen.form, response);
			case "GET /v1/models":
				return isWelcome ? sendJson(response, 200, { data: server.models }) : sendJson(response, 401, refused);
			case "POST /v1/chat/completions":
				return isWelcome ? sendAnswer(response) : sendJson(response, 401, refused);
			default:
				return sendJson(response, 404, {});
		}
	};

	const listener = createServer(async (request, response) => {
		const pieces: Buffer[] = [];
		for await (const piece of request) pieces.push(piece);
		const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
		const body = Buffer.concat(pieces).toString("utf8");
		const seen: PlatformRequestSeen = {
			method: request.method ?? "",
			path: request.url ?? "",
			form: isForm ? Object.fromEntries(new URLSearchParams(body)) : {},
			authorization: request.headers.authorization ?? null,
		};
		requests.push(seen);
		await answer(seen, response);
	});
	listener.listen(0, "127.0.0.1");
	await once(listener, "listening");
	const address = listener.address();
	if (address === null || typeof address === "string") throw new Error("no port");

	const server: PlatformServer = {
		url: `http://127.0.0.1:${address.port}`,
		requests,
		beforeGrant: [],
		models: [
			{
				id: "kimi-for-coding",
				display_name: "Kimi for Coding",
				context_length: 262_144,
				supports_reasoning: true,
				supports_image_in: true,
				supports_video_in: false,
			},
			{ id: "kimi-small" },
		],
		device: {},
		grant: {},
		beforeRefresh: async () => {},
		refusal: null,
		refreshFailure: null,
		issue() {
			issued += 1;
			access = `access-token-${issued}`;
			refresh = `refresh-token-${issued}`;
			return { access_token: access, refresh_token: refresh };
		},
		revokeAccess() {
			access = null;
		},
		refuseAccess() {
			isClosed = true;
		},
		get refreshes() {
			return refreshes;
		},
		get reuses() {
			return reuses;
		},
		async close() {
			listener.closeAllConnections();
			listener.close();
			await once(listener, "close");
		},
	};
	return server;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
	response.writeHead(status, { "content-type": "application/json" });
	response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function sendAnswer(response: ServerResponse): void {
	const chunk = (fields: object) =>
		`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...fields })}\n\n`;
	response.writeHead(200, { "content-type": "text/event-stream" });
	response.end(
		chunk({ choices: [{ index: 0, delta: { content: "Here I am." }, finish_reason: "stop" }] }) +
			chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 3 } }) +
			"data: [DONE]\n\n",
	);
}
