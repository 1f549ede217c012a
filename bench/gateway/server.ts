// A server of the gateway's protocol that is measured: started, and called over HTTP.
import { type ChildProcess, spawn } from "node:child_process";
import { type Agent, request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { readTokens } from "../../test/support/gateway/token-file.ts";
import type { Target } from "../child.ts";
import { killTree } from "../process-tree.ts";

/** A server that is measured, and what its clients need. */
export interface RunningServer {
	readonly child: ChildProcess;
	readonly port: number;
	readonly token: string;
}

/** The settings, as JSON, of a program whose model is the provider at this port, with as many sessions and turns at once. */
export function toSettings(provider: number, turns: number, limits: Readonly<Record<string, number>> = {}): string {
	return JSON.stringify({
		default_model: "m",
		models: { m: { provider: "p", model: "m", max_context_size: 1_000_000 } },
		providers: { p: { type: "kimi", base_url: `http://127.0.0.1:${provider}`, api_key: "key-0123456789" } },
		agentwire: { limits: { running_turns: turns, loaded_sessions: Math.max(1024, turns), ...limits } },
	});
}

/** Starts a server whose model is the provider at this port, with as many turns at once. Throws when it does not serve. */
export async function startServer(
	{ name, command, environment }: Target,
	workDir: string,
	provider: number,
	turns: number,
): Promise<RunningServer> {
	const [file, ...words] = command;
	const serve = ["serve", "--json", "--port", "0", "--work-dir", path.resolve(workDir)];
	const child = spawn(file, [...words, ...serve, "--config", toSettings(provider, turns)], {
		env: environment,
		stdio: ["ignore", "pipe", "inherit"],
	});
	child.on("error", (error) => console.error(error.message));
	try {
		for await (const line of createInterface({ input: child.stdout })) {
			const { url, tokens }: { url: string; tokens: string } = JSON.parse(line);
			return { child, port: Number(new URL(url).port), token: readTokens(tokens).control ?? "" };
		}
		throw new Error("it ended before it served.");
	} catch (thrown) {
		killTree(child);
		throw new Error(`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
	}
}

/** The result of a method over HTTP. */
export function sendCall(
	{ port, token }: RunningServer,
	agent: Agent,
	method: string,
	params: object,
): Promise<Record<string, unknown>> {
	const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
	return new Promise((resolve, reject) => {
		const sending = request(
			{
				host: "127.0.0.1",
				port,
				agent,
				method: "POST",
				path: "/rpc",
				headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
			},
			(response) => {
				let text = "";
				response.setEncoding("utf8");
				response.on("data", (piece: string) => {
					text += piece;
				});
				response.on("end", () => {
					const answer: { result?: Record<string, unknown>; error?: { message: string } } = JSON.parse(text);
					if (answer.result === undefined) reject(new Error(`${method}: ${answer.error?.message}`));
					else resolve(answer.result);
				});
			},
		);
		sending.on("error", reject);
		sending.end(body);
	});
}
