// An editor in memory over a real server of many sessions, whose models are the test's.
import { isRecord } from "../../../src/base/json.ts";
import { acpDialect } from "../../../src/frontends/acp/dialect.ts";
import type { HostDialect } from "../../../src/frontends/shared/dialect.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import { createFakeClock } from "../host/campaign-clock.ts";
import { createGatedProvider } from "../models/gated-provider.ts";
import { createHostedServer, hostedPlace } from "../sessions/hosted-server.ts";
import { createMemoryFiles } from "../store/memory-files.ts";

export type Fields = Readonly<Record<string, unknown>>;

export type Editor = Awaited<ReturnType<typeof createEditor>>;

/** `limits` are those of the settings; `dialect` is the version of the protocol, the first unless said otherwise. */
export async function createEditor(limits: object = {}, dialect: HostDialect = acpDialect) {
	const provider = createGatedProvider(false);
	const server = await createHostedServer({
		...{ files: createMemoryFiles(), store: createMemoryStore(), clock: createFakeClock(), fetch: provider.fetch },
		...{ dialect, agentwire: { limits } },
	});
	/** Everything that came, in its order. */
	const received: Fields[] = [];
	const waiters = new Set<() => void>();
	const read = async (): Promise<void> => {
		for (let line = await server.client.read(); line !== null; line = await server.client.read()) {
			const message: unknown = JSON.parse(line);
			if (isRecord(message)) received.push(message);
			for (const wake of [...waiters]) wake();
		}
	};
	void read();
	let count = 0;
	const send = (message: Fields): void => server.client.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
	/** Resolves with the first message, of those that came too, that is as wished. */
	const arrival = (isWished: (message: Fields) => boolean): Promise<Fields> =>
		new Promise((resolve) => {
			const look = (): void => {
				const found = received.find(isWished);
				if (found === undefined) return;
				waiters.delete(look);
				resolve(found);
			};
			waiters.add(look);
			look();
		});
	/** Sends a request; its id, and its response. */
	const begin = (method: string, params: object) => {
		count += 1;
		const id = count;
		send({ id, method, params });
		return { id, response: arrival((message) => message["id"] === id && !("method" in message)) };
	};
	const request = (method: string, params: object): Promise<Fields> => begin(method, params).response;
	return {
		received,
		model: provider.gate("m"),
		send,
		begin,
		request,
		notify: (method: string, params: object): void => send({ method, params }),
		arrival,
		/** Resolves with the first update of a kind. */
		update: (kind: string) => arrival((message) => updateOf(message)?.["sessionUpdate"] === kind),
		/** A new session's id. */
		async open(): Promise<string> {
			const { result } = await request("session/new", { cwd: hostedPlace.workDir, mcpServers: [] });
			return isRecord(result) ? String(result["sessionId"]) : "";
		},
		prompt: (sessionId: string, text: string) =>
			begin("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
		async close(): Promise<void> {
			server.client.end();
			await server.serving.ended;
			await server.serving.finish();
			await server.close();
		},
	};
}

export function updateOf({ params }: Fields): Fields | null {
	const update = isRecord(params) ? params["update"] : null;
	return isRecord(update) ? update : null;
}
