// A server of Meerkat RPC in memory whose model says given texts, and which remembers what the model was asked.
import { dirname } from "node:path";
import { isRecord } from "../../../src/base/json.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { createFakeClock } from "../host/campaign-clock.ts";
import { createHostedServer, type HostedServerOptions } from "../sessions/hosted-server.ts";
import { createMemoryFiles } from "../store/memory-files.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface SpokenServer {
	/** Sends a request and gives its answer. */
	ask(method: string, params?: object): Promise<Fields>;
	/** Sends all of them at once and gives their answers, in this order. */
	askAll(requests: readonly (readonly [method: string, params: object])[]): Promise<readonly Fields[]>;
	/** The events so far, without the envelopes of the contract. */
	events(): readonly Fields[];
	/** The bodies of the requests to the model. */
	readonly bodies: readonly Fields[];
	end(): Promise<void>;
}

/** `says` has the texts in order; the last one is said for ever. `{"call":…,"input":…}` is a call of a tool, and what is in `<think>` is reasoning. */
export async function createSpokenServer(
	says: readonly string[],
	store: SessionStore,
	more: Pick<HostedServerOptions, "models" | "capabilities" | "processes"> & {
		/** Texts by path. */
		readonly texts?: Readonly<Record<string, string>>;
		/** How many sessions may be loaded at once. */
		readonly loadedSessions?: number;
		/** Whether it speaks the first protocol. */
		readonly isFirst?: boolean;
	} = {},
): Promise<SpokenServer> {
	const files = createMemoryFiles();
	for (const [path, text] of Object.entries(more.texts ?? {})) {
		await files.makeDirectory(dirname(path));
		await files.replace(path, text);
	}
	const bodies: Fields[] = [];
	const { client, serving, close } = await createHostedServer({
		...more,
		files,
		store,
		clock: createFakeClock(),
		agentwire: more.loadedSessions === undefined ? {} : { limits: { loaded_sessions: more.loadedSessions } },
		fetch: async (_url, init) => {
			const body: unknown = JSON.parse(String(init?.body));
			if (isRecord(body)) bodies.push(body);
			return respond(says[Math.min(bodies.length, says.length) - 1] ?? "");
		},
	});
	const events: Fields[] = [];
	let requests = 0;
	const askAll: SpokenServer["askAll"] = async (all) => {
		const ids = all.map(([method, params]) => {
			requests += 1;
			const id = `r${requests}`;
			client.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
			return id;
		});
		const answers = new Map<unknown, Fields>();
		while (answers.size < ids.length) {
			const message: unknown = JSON.parse((await client.read()) ?? "null");
			if (!isRecord(message)) throw new Error("The connection ended.");
			if (ids.some((id) => id === message["id"])) answers.set(message["id"], message);
			const { params: delivered } = message;
			const event = isRecord(delivered) ? delivered["event"] : null;
			if (isRecord(event)) events.push(isRecord(event["payload"]) ? event["payload"] : event);
		}
		return ids.map((id) => answers.get(id) ?? {});
	};
	const ask = async (method: string, params: object = {}): Promise<Fields> => {
		const [answer] = await askAll([[method, params]]);
		return answer ?? {};
	};
	if (more.isFirst !== true) await ask("capabilities/get");
	return {
		ask,
		askAll,
		events: () => events,
		bodies,
		async end() {
			client.end();
			await serving.finish();
			await close();
		},
	};
}

function respond(text: string): Response {
	const usage = { prompt_tokens: 10, completion_tokens: 5 };
	const parsed: unknown = text.startsWith('{"call"') ? JSON.parse(text) : null;
	const call = isRecord(parsed) ? { name: String(parsed["call"]), arguments: JSON.stringify(parsed["input"]) } : null;
	const [, reasoning, rest = text] = /^<think>(.*)<\/think>(.*)$/s.exec(text) ?? [];
	const said = { content: rest, ...(reasoning === undefined ? {} : { reasoning_content: reasoning }) };
	const delta = call === null ? said : { tool_calls: [{ index: 0, id: "c", type: "function", function: call }] };
	const lines = [{ choices: [{ delta }] }, { choices: [{ delta: {}, finish_reason: "stop" }], usage }].map(
		(event) => `data: ${JSON.stringify(event)}\n\n`,
	);
	const headers = { "content-type": "text/event-stream" };
	return new Response(`${lines.join("")}data: [DONE]\n\n`, { headers });
}
