import { request } from "node:http";
import type { Socket } from "node:net";
import { NetworkError } from "../network-error.ts";
import type { ProxyServer } from "./proxies.ts";

export function proxyAuthorization({ credentials }: ProxyServer): string | null {
	if (credentials === null) return null;
	return `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`;
}

export function openTunnel(socket: Socket, proxy: ProxyServer, host: string, port: number): Promise<Socket> {
	const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
	const authorization = proxyAuthorization(proxy);
	return new Promise((resolve, reject) => {
		const asking = request({
			method: "CONNECT",
			path: target,
			headers: { host: target, ...(authorization === null ? {} : { "proxy-authorization": authorization }) },
			createConnection: () => socket,
		});
		// For the request's lifetime: several errors may occur, and there is no other listener.
		asking.on("error", reject);
		asking.on("close", () => reject(refusal(proxy, target, "it ended the connection")));
		asking.once("connect", ({ statusCode = 0, statusMessage = "" }, connected, head) => {
			if (statusCode < 200 || statusCode > 299) {
				connected.destroy();
				reject(refusal(proxy, target, `${statusCode} ${statusMessage}`.trim()));
				return;
			}
			if (head.length > 0) connected.unshift(head);
			resolve(socket);
		});
		asking.end();
	});
}

export function refusal({ variable, credentials }: ProxyServer, target: string, answer: string): NetworkError {
	const wants = credentials === null ? "wants a user name and a password" : "refuses the user name or the password";
	const text = answer.startsWith("407")
		? `The proxy of ${variable} ${wants} (${answer}).`
		: `The proxy of ${variable} refuses a connection to ${target}: ${answer}.`;
	return new NetworkError("proxy", text);
}
