import * as v from "valibot";
import type { EditorFiles } from "../../api/editor-files.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { RpcReply } from "../../ports/rpc/envelope.ts";
import type { ClientCapabilities } from "./wire.ts";
import { readFileResultSchema } from "./wire-updates.ts";

/** A client is not asked about a session whose id it does not know: until `begin`, the disk is used. */
export interface ClientFiles {
	readonly port: EditorFiles;
	begin(sessionId: string): void;
}

export function createClientFiles(
	{ fs }: ClientCapabilities,
	peer: Pick<Peer, "call" | "notify" | "withdraw">,
	identifiers: Identifiers,
	/** Aborts when the client disconnects; the disk is used from then on. */
	gone: AbortSignal,
): ClientFiles | null {
	if (!fs.readTextFile && !fs.writeTextFile) return null;
	let sessionId: string | null = null;
	const call = (method: string, params: object, signal: AbortSignal) =>
		new Promise<RpcReply | null>((resolve) => {
			if (sessionId === null || signal.aborted || gone.aborted) {
				resolve(null);
				return;
			}
			const id = identifiers.uuid();
			const settle = (reply: RpcReply | null) => {
				signal.removeEventListener("abort", give);
				gone.removeEventListener("abort", give);
				resolve(reply);
			};
			const give = () => {
				peer.withdraw(id);
				peer.notify("$/cancel_request", { requestId: id });
				settle(null);
			};
			signal.addEventListener("abort", give);
			gone.addEventListener("abort", give);
			peer.call(id, method, { sessionId, ...params }, settle);
		});
	const port: EditorFiles = {
		...(fs.readTextFile
			? {
					async read(path: string, signal: AbortSignal) {
						const reply = await call("fs/read_text_file", { path }, signal);
						if (reply === null || reply.kind === "error") return null;
						const parsed = v.safeParse(readFileResultSchema, reply.result);
						return parsed.success ? parsed.output.content : null;
					},
				}
			: {}),
		...(fs.writeTextFile
			? {
					async write(path: string, content: string, signal: AbortSignal) {
						const reply = await call("fs/write_text_file", { path, content }, signal);
						return reply !== null && reply.kind === "result";
					},
				}
			: {}),
	};
	return {
		port,
		begin(id) {
			sessionId = id;
		},
	};
}
