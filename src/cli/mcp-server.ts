// A server as an entry of `mcp.json` describes it, for the commands that look at it or connect to it.
import { isRecord } from "../base/json.ts";

type TextsByName = Readonly<Record<string, string>>;

/** A program that is started and spoken to over its stdin and stdout. */
export interface LocalMcpServer {
	readonly kind: "local";
	readonly command: string;
	readonly arguments: readonly string[];
	readonly environment: TextsByName;
	/** As written; null for the current directory. */
	readonly workDir: string | null;
}

export interface RemoteMcpServer {
	readonly kind: "remote";
	readonly url: string;
	readonly transport: "http" | "sse";
	readonly headers: TextsByName;
	readonly authorization:
		| { readonly kind: "none" }
		| { readonly kind: "bearer"; readonly token: string }
		| { readonly kind: "oauth" };
}

export type McpServer = LocalMcpServer | RemoteMcpServer;

export type McpServerReading =
	| { readonly ok: true; readonly server: McpServer }
	/** A clause about the entry, without capital and full stop. */
	| { readonly ok: false; readonly reason: string };

class Fault extends Error {}

/** Reads an entry. Keys that mean nothing here are left alone. Values are never quoted: they may be secrets. */
export function readMcpServer(entry: unknown): McpServerReading {
	try {
		return { ok: true, server: toServer(entry) };
	} catch (thrown) {
		if (thrown instanceof Fault) return { ok: false, reason: thrown.message };
		throw thrown;
	}
}

function toServer(entry: unknown): McpServer {
	if (!isRecord(entry)) throw new Fault("it is no object");
	const transport = text(entry, "transport") ?? text(entry, "type");
	const command = text(entry, "command");
	const url = text(entry, "url");
	// An entry with both is a program, as long as it does not say that it is reached over the network.
	if (url !== null && (command === null || (transport !== null && transport !== "stdio"))) {
		return toRemote(entry, url, text(entry, "transport"), transport);
	}
	if (command === null) throw new Fault("it has neither 'command' nor 'url'");
	const args = entry["args"] ?? [];
	if (!Array.isArray(args) || !args.every((each) => typeof each === "string")) {
		throw new Fault("'args' is no list of strings");
	}
	return { kind: "local", command, arguments: args, environment: texts(entry, "env"), workDir: text(entry, "cwd") };
}

function toRemote(
	entry: Readonly<Record<string, unknown>>,
	url: string,
	named: string | null,
	transport: string | null,
): RemoteMcpServer {
	const parsed = URL.canParse(url) ? new URL(url) : null;
	if (parsed === null || !/^https?:$/.test(parsed.protocol)) throw new Fault("'url' is no http or https URL");
	const isKnown = named === null || ["http", "streamable-http", "sse"].includes(named);
	if (!isKnown) throw new Fault("'transport' is none of http, streamable-http and sse");
	const auth = text(entry, "auth");
	return {
		kind: "remote",
		url,
		transport: toTransport(transport, parsed),
		headers: texts(entry, "headers"),
		authorization:
			auth === null ? { kind: "none" } : auth === "oauth" ? { kind: "oauth" } : { kind: "bearer", token: auth },
	};
}

function toTransport(named: string | null, { pathname }: URL): "http" | "sse" {
	if (named === "http" || named === "streamable-http") return "http";
	return named === "sse" || pathname.split("/").includes("sse") ? "sse" : "http";
}

/** Null when there is none. */
function text(entry: Readonly<Record<string, unknown>>, key: string): string | null {
	const value = entry[key] ?? null;
	if (value === null || (typeof value === "string" && value !== "")) return value;
	throw new Fault(`'${key}' is no text`);
}

/** People write ports and switches without quotes. */
function texts(entry: Readonly<Record<string, unknown>>, key: string): TextsByName {
	const table = entry[key] ?? {};
	const isFit = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);
	if (!isRecord(table) || !Object.values(table).every(isFit)) throw new Fault(`'${key}' is no object of texts`);
	return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, String(value)]));
}
