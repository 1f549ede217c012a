// Clients pull events with `stream.next`; here they become separate lines.
import { isRecord } from "../../base/json.ts";
import { parseJson } from "./messages.ts";
import type { Server } from "./play.ts";

const prefix = "pull-";

/** Events are read as `{"stream":NAME,"event":EVENT}`. */
export function withPulledEvents<S extends Pick<Server, "read" | "write">>(server: S): S {
	const lines: string[] = [];
	const pull = (stream: string) => {
		const request = { jsonrpc: "2.0", id: prefix + stream, method: "stream.next", params: { stream } };
		server.write(Buffer.from(`${JSON.stringify(request)}\n`));
	};
	return {
		...server,
		async read() {
			for (;;) {
				const event = lines.shift();
				if (event !== undefined) return event;
				const line = await server.read();
				const message = line === null ? null : parseJson(line);
				if (!isRecord(message)) return line;
				const { id, result } = message;
				if (typeof id === "string" && id.startsWith(prefix)) {
					const stream = id.slice(prefix.length);
					if (!isRecord(result) || !Array.isArray(result["events"])) continue;
					lines.push(...result["events"].map((each) => JSON.stringify({ stream, event: each })));
					if (result["ended"] !== true) pull(stream);
					continue;
				}
				if (isRecord(result) && typeof result["stream"] === "string") pull(result["stream"]);
				return line;
			}
		},
	};
}
