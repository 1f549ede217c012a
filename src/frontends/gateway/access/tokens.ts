// The gateway's tokens: a file readable only by its owner, read for every request, so that a replaced token is refused at once.
import { createHash, timingSafeEqual } from "node:crypto";
import { dirname } from "node:path";
import * as v from "valibot";
import { type Scope, scopes } from "../../../api/operations.ts";
import { KernelError } from "../../../base/errors.ts";
import type { Identifiers } from "../../../base/ids.ts";
import { parseJsonFile } from "../../../base/json.ts";
import { createSharedRun } from "../../../base/shared-run.ts";
import type { Files } from "../../../ports/files/port.ts";

export const tokenFile = "gateway.json";

const fileSchema = v.object({
	tokens: v.pipe(
		v.array(v.object({ token: v.pipe(v.string(), v.minLength(32), v.maxLength(256)), scope: v.picklist(scopes) })),
		v.maxLength(100),
	),
});
type TokenFile = v.InferOutput<typeof fileSchema>;

/** Hexadecimal digits of a token: 256 bits. */
const tokenLength = 64;

export interface Tokens {
	/** The scope of a token; null if invalid. Fails with `storage-failed` for an unusable file. */
	scopeOf(token: string): Promise<Scope | null>;
	find(scope: Scope): Promise<string | null>;
	/** Creates the file with one token per scope, unless it exists. `renew` replaces it, which invalidates earlier tokens. */
	prepare(renew: boolean): Promise<void>;
}

/** `user` is the numeric id of the current user; null on platforms without one. */
export function createTokens(path: string, files: Files, identifiers: Identifiers, user: number | null): Tokens {
	const read = createSharedRun(() => readTokens(path, files, user));
	return {
		async scopeOf(token) {
			const given = digest(token);
			// Compares every token, so that the time does not reveal a match.
			const found = (await read()).tokens.filter((each) => timingSafeEqual(digest(each.token), given));
			return found[0]?.scope ?? null;
		},
		find: async (scope) => (await read()).tokens.find((each) => each.scope === scope)?.token ?? null,
		async prepare(renew) {
			if (!renew && (await files.status(path)) !== null) {
				await read();
				return;
			}
			const content: TokenFile = { tokens: scopes.map((scope) => ({ token: identifiers.hex(tokenLength), scope })) };
			await files.makeDirectory(dirname(path));
			await files.replace(path, `${JSON.stringify(content, null, "\t")}\n`, { mode: 0o600, sync: true });
		},
	};
}

const digest = (token: string): Buffer => createHash("sha256").update(token, "utf8").digest();

/** Maximum file size in bytes. */
const sizeLimit = 65_536;

async function readTokens(path: string, files: Files, user: number | null): Promise<TokenFile> {
	const unusable = (why: string, cause?: unknown) =>
		new KernelError("storage-failed", `The gateway's tokens in ${path} cannot be used: ${why}.`, { cause });
	const status = await files.status(path);
	if (status === null) throw unusable("the file is missing; restart the gateway to create it");
	if (process.platform !== "win32" && (status.mode & 0o077) !== 0) {
		throw unusable(`other users of this machine can read or change it; run: chmod 600 ${path}`);
	}
	// Its owner can change it regardless of the mode. Checked for users who may read everything, such as root.
	if (user !== null && status.owner !== undefined && status.owner !== user) {
		throw unusable("it belongs to another user of this machine; delete it to get a new one");
	}
	if (status.kind !== "file") throw unusable("it is not a file");
	if (status.size > sizeLimit) throw unusable("it is larger than 64 KiB");
	const bytes = await files.read(path, sizeLimit);
	let content: unknown;
	try {
		content = parseJsonFile(bytes ?? Buffer.alloc(0));
	} catch (thrown) {
		// The reason quotes the text, which may be a token.
		throw unusable("it is not JSON; delete it to get a new one", thrown);
	}
	const parsed = v.safeParse(fileSchema, content);
	if (!parsed.success) throw unusable("it does not have the expected format; delete it to get a new one");
	return parsed.output;
}
