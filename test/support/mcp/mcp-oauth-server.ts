// An MCP server over HTTP that wants to be signed in to, with its authorization server on the same loopback port, and
// what a browser does with the page to sign in on. Written from the MCP specification and RFC 9728.
import { createServer, type IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import {
	type Answer,
	type AuthorizationServer,
	type AuthorizationServerOptions,
	answerJson,
	createAuthorizationServer,
} from "./authorization-server.ts";

export interface McpOAuthServer extends AuthorizationServer {
	/** Of the MCP server. */
	readonly url: string;
	readonly origin: string;
}

const tools = [
	{ name: "forecast", description: "Tells the weather.", inputSchema: { type: "object" } },
	{ name: "history", description: "Tells what the weather was.", inputSchema: { type: "object" } },
];
const scope = "weather:read";

/** Starts it for the running test. With a further permission, the tool `history` needs it. */
export async function startMcpOAuthServer(options: AuthorizationServerOptions = {}): Promise<McpOAuthServer> {
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const piece of request) body += String(piece);
		const { status, headers, body: answer } = await route(request, body);
		response.writeHead(status, headers).end(answer);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const address = server.address();
	if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
	const origin = `http://127.0.0.1:${address.port}`;
	const url = `${origin}/mcp`;
	const authorization = createAuthorizationServer(origin, url, scope, options);

	const serveMcp = ({ headers, method: httpMethod }: IncomingMessage, body: string): Answer => {
		const token = headers.authorization?.replace(/^Bearer /, "") ?? "";
		const where = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
		const refuse = (status: number, reason: string): Answer => {
			return { status, headers: { "www-authenticate": `Bearer ${where}, ${reason}` }, body: "" };
		};
		if (!authorization.isGood(token)) return refuse(401, `scope="${scope}"`);
		if (httpMethod !== "POST") return { status: 405, body: "" };
		const message: { id?: unknown; method: string; params?: { protocolVersion?: string; name?: string } } =
			JSON.parse(body);
		const { furtherScope } = options;
		const isFurther = message.method === "tools/call" && message.params?.name === "history";
		if (isFurther && furtherScope !== undefined && !authorization.scopesOf(token).includes(furtherScope)) {
			return refuse(403, `error="insufficient_scope", scope="${furtherScope}"`);
		}
		const answer = (result: object) => answerJson(200, { jsonrpc: "2.0", id: message.id, result });
		if (message.method === "initialize") {
			const serverInfo = { name: "weather", version: "1.0.0" };
			return answer({ protocolVersion: message.params?.protocolVersion, capabilities: { tools: {} }, serverInfo });
		}
		if (message.method === "tools/call") return answer({ content: [{ type: "text", text: "Sunny." }] });
		return message.method === "tools/list" ? answer({ tools }) : { status: 202, body: "" };
	};

	const route = async (request: IncomingMessage, body: string): Promise<Answer> => {
		const { pathname, searchParams } = new URL(request.url ?? "/", origin);
		switch (pathname) {
			case "/.well-known/oauth-protected-resource/mcp":
				return answerJson(200, { resource: url, authorization_servers: [origin], scopes_supported: [scope] });
			case "/.well-known/oauth-authorization-server":
				return authorization.metadata();
			case "/register":
				return authorization.register(body);
			case "/authorize":
				return authorization.authorize(searchParams);
			case "/token":
				return await authorization.exchange(body, request.headers.authorization);
			case "/mcp":
				return serveMcp(request, body);
			default:
				return { status: 404, body: "" };
		}
	};
	return { ...authorization, url, origin };
}

/** Does what a browser and a person do with the page to sign in on: follows it to where it leads. */
export async function signInAt(address: URL | string): Promise<{ readonly status: number; readonly page: string }> {
	const response = await fetch(address);
	return { status: response.status, page: await response.text() };
}
