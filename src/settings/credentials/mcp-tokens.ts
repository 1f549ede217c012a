// One file per server in `mcp-oauth/`, readable only by its owner.
import { createHash } from "node:crypto";
import path from "node:path";
import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import { parseJsonFile } from "../../base/json.ts";
import { type LockTimes, withLock } from "../../ports/files/path-lock.ts";
import { withoutSlash } from "./mcp-server-url.ts";
import { type McpTokenPlace, type McpTokens, tokenFileSchema } from "./mcp-token-file.ts";
import { createRustAgentTokens } from "./rust-agent-tokens.ts";
import { typeFault } from "./token-type.ts";

export interface McpTokenStore {
	/** Null if missing or unusable; the latter is logged. */
	read(url: string): Promise<McpTokens | null>;
	write(url: string, tokens: McpTokens): Promise<void>;
	remove(url: string): Promise<void>;
	/** Runs the work while no other process works on this server's tokens. */
	exclusively<T>(url: string, work: () => Promise<T>): Promise<T>;
}

/** The lock is held during a network request, which takes less time than this. */
const lockTimes: LockTimes = { staleAfter: 60_000, patience: 60_000 };

const privateDirectory = 0o700;
const privateFile = 0o600;

export function createMcpTokenStore({ files, shareDir, log, clock }: McpTokenPlace): McpTokenStore {
	const directory = path.join(shareDir, "mcp-oauth");
	const rustAgent = createRustAgentTokens({ files, shareDir, log, clock });
	const fileOf = (url: string) => {
		const name = createHash("sha256").update(withoutSlash(url)).digest("hex");
		return path.join(directory, `${name}.json`);
	};
	return {
		async read(url) {
			const file = fileOf(url);
			try {
				const bytes = await files.read(file);
				if (bytes === null) return await rustAgent.read(url);
				const { server_url: _, ...tokens } = v.parse(tokenFileSchema, parseJsonFile(bytes));
				const fault = typeFault(tokens.token_type);
				if (fault !== null) throw new Error(fault);
				return tokens;
			} catch (thrown) {
				// Keep the content out of the log; parser messages quote it.
				const isOurs = thrown instanceof SyntaxError || v.isValiError(thrown);
				const reason = isOurs ? "it is not a token file" : errorText(thrown);
				log.warn("The tokens of an MCP server cannot be read", { url, file, reason });
				return null;
			}
		},
		async write(url, tokens) {
			await files.makeDirectory(directory, privateDirectory);
			const content = JSON.stringify({ server_url: withoutSlash(url), ...tokens }, null, 2);
			await files.replace(fileOf(url), `${content}\n`, { mode: privateFile, sync: true });
		},
		async remove(url) {
			await files.remove(fileOf(url));
			await rustAgent.remove(url);
		},
		async exclusively(url, work) {
			// If it cannot be created, the work fails with the same error.
			await files.makeDirectory(directory, privateDirectory).catch(() => undefined);
			return await withLock({ files, clock }, fileOf(url), work, lockTimes);
		},
	};
}
