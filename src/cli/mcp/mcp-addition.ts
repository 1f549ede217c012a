import type { McpAddition } from "../arguments/options/mcp-options.ts";
import { McpError } from "./mcp-error.ts";

export function toMcpEntry(addition: McpAddition): object {
	switch (addition.transport) {
		case "stdio":
			return toLocal(addition);
		case "http":
			return toRemote(addition);
		default:
			throw new McpError(`--transport takes stdio or http, found '${addition.transport}'.`);
	}
}

function toLocal({ target, environment, headers, auth }: McpAddition): object {
	if (headers.length > 0) throw new McpError("--header works only with --transport http.");
	if (auth !== null) throw new McpError("--auth works only with --transport http.");
	const [command = "", ...args] = target;
	if (command === "")
		throw new McpError("The command that starts the server is missing: mcp add NAME -- COMMAND [ARG…]");
	const env = toTable("--env", "=", environment);
	return { command, args, ...(env === null ? {} : { env }) };
}

function toRemote({ target, environment, headers: typed, auth }: McpAddition): object {
	if (environment.length > 0) throw new McpError("--env works only with --transport stdio.");
	const [url = "", ...more] = target;
	if (url === "") throw new McpError("The server's URL is missing: mcp add --transport http NAME URL");
	if (more.length > 0) throw new McpError("With --transport http there is one URL and nothing else.");
	if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
		throw new McpError(`The server's URL must begin with https:// or http://, found '${url}'.`);
	}
	// The value may be a token, which must not be shown.
	if (auth !== null && auth !== "oauth") {
		// Worded so that redaction leaves it intact.
		throw new McpError(
			"--auth takes only oauth. A token goes into a header: --header KEY:VALUE, where KEY is Authorization.",
		);
	}
	const headers = toTable("--header", ":", typed);
	return { url, transport: "http", ...(headers === null ? {} : { headers }), ...(auth === null ? {} : { auth }) };
}

function toTable(flag: string, separator: "=" | ":", typed: readonly string[]): Record<string, string> | null {
	if (typed.length === 0) return null;
	const trim = (text: string) => (separator === ":" ? text.trim() : text);
	return Object.fromEntries(
		typed.map((text) => {
			const end = text.indexOf(separator);
			const key = trim(text.slice(0, Math.max(end, 0)));
			// The input may be a secret key.
			if (key === "")
				throw new McpError(`${flag} takes KEY${separator}VALUE; one of them has no KEY or no '${separator}'.`);
			return [key, trim(text.slice(end + 1))];
		}),
	);
}
