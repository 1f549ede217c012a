// Sign-ins of `kimi-agent`, stored in one file. Deleted together with ours; renewed tokens become ours.
import path from "node:path";
import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import { isRecord, parseJsonFile } from "../../base/json.ts";
import { withLock } from "../../ports/files/path-lock.ts";
import { withoutSlash } from "./mcp-server-url.ts";
import type { McpTokenPlace, McpTokens } from "./mcp-token-file.ts";
import { typeFault } from "./token-type.ts";

const text = v.pipe(v.string(), v.nonEmpty());

const signInSchema = v.object({
	client_id: text,
	token_response: v.nullish(
		v.object({
			access_token: text,
			token_type: v.nullish(v.string()),
			refresh_token: v.nullish(v.string()),
			scope: v.nullish(v.string()),
			expires_in: v.nullish(v.number()),
		}),
	),
	granted_scopes: v.nullish(v.array(v.string())),
	token_received_at: v.nullish(v.number()),
});

export interface RustAgentTokens {
	read(url: string): Promise<McpTokens | null>;
	remove(url: string): Promise<void>;
}

export function createRustAgentTokens({ files, shareDir, log, clock }: McpTokenPlace): RustAgentTokens {
	const file = path.join(shareDir, "credentials", "mcp_auth.json");
	const readFile = async (): Promise<{ readonly root: object; readonly servers: object } | null> => {
		const bytes = await files.read(file);
		if (bytes === null) return null;
		const root: unknown = parseJsonFile(bytes);
		const servers = isRecord(root) ? (root["servers"] ?? {}) : null;
		if (isRecord(root) && isRecord(servers)) return { root, servers };
		throw new SyntaxError("There are no servers in it.");
	};
	const entriesOf = (servers: object, url: string) =>
		Object.entries(servers).filter(([key]) => withoutSlash(key) === withoutSlash(url));
	return {
		async read(url) {
			try {
				const found = await readFile();
				const [entry] = found === null ? [] : entriesOf(found.servers, url);
				return entry === undefined ? null : toTokens(v.parse(signInSchema, entry[1]));
			} catch (thrown) {
				// Keep the content out of the log; parser messages quote it.
				const isItsOwn = thrown instanceof SyntaxError || v.isValiError(thrown);
				const reason = isItsOwn ? "it is not a token file" : errorText(thrown);
				log.warn("The tokens of kimi-agent for an MCP server cannot be read", { url, file, reason });
				return null;
			}
		},
		async remove(url) {
			const hasAny = async () => {
				const found = await readFile().catch(() => null);
				return found !== null && entriesOf(found.servers, url).length > 0;
			};
			if (!(await hasAny())) return;
			await withLock({ files, clock }, file, async () => {
				const found = await readFile();
				if (found === null) return;
				const gone = new Set(entriesOf(found.servers, url).map(([key]) => key));
				const servers = Object.fromEntries(Object.entries(found.servers).filter(([key]) => !gone.has(key)));
				await files.replace(file, JSON.stringify({ ...found.root, servers }, null, 2), { sync: true });
			});
		},
	};
}

/** Throws for an unusable token. The authorization server is unknown until a renewal discovers it. */
function toTokens(signIn: v.InferOutput<typeof signInSchema>): McpTokens | null {
	const { client_id, token_response: tokens, granted_scopes: granted, token_received_at: received } = signIn;
	if (tokens == null) return null;
	const { access_token, token_type, refresh_token, expires_in } = tokens;
	const fault = typeFault(token_type ?? "");
	if (fault !== null) throw new Error(fault);
	const scope = tokens.scope || (granted ?? []).join(" ");
	return {
		access_token,
		token_type: token_type || "Bearer",
		...(refresh_token ? { refresh_token } : {}),
		...(scope === "" ? {} : { scope }),
		...(received == null || expires_in == null ? {} : { expires_at: received + expires_in }),
		client: { client_id },
	};
}
