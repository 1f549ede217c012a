// Options in the Agent Client Protocol have server-specific ids.
import { isRecord } from "../../base/json.ts";
import { memberAt } from "../../testing/transcripts/freedom.ts";
import { parseJson } from "../../testing/transcripts/messages.ts";
import type { Server } from "../../testing/transcripts/play.ts";

/** Other ids are meant to be unknown to the server. */
const kinds: Readonly<Record<string, string>> = {
	approve: "allow_once",
	approve_for_session: "allow_always",
	reject: "reject_once",
};

export function withOfferedOptions(server: Server): Server {
	/** By the ids of requests, as JSON: the ids of their options by kind. */
	const offered = new Map<string, ReadonlyMap<unknown, unknown>>();
	const translate = (line: string): string => {
		const message = parseJson(line);
		const [id, chosen] = [memberAt(message, ["id"]), memberAt(message, ["result", "outcome", "optionId"])];
		const option = offered.get(JSON.stringify(id))?.get(kinds[String(chosen)]);
		if (option === undefined) return line;
		return JSON.stringify({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId: option } } });
	};
	return {
		...server,
		write: (bytes) => server.write(Buffer.from(bytes.toString("utf8").split("\n").map(translate).join("\n"))),
		async read() {
			const line = await server.read();
			const message = line === null ? null : parseJson(line);
			const options = memberAt(message, ["params", "options"]);
			if (isRecord(message) && Array.isArray(options)) {
				const byKind = options.filter(isRecord).map(({ kind, optionId }) => [kind, optionId] as const);
				offered.set(JSON.stringify(message["id"]), new Map(byKind.reverse()));
			}
			return line;
		},
	};
}
