// A gateway in one life of the crash campaign, and the HTTP between it and its client: what the client writes as lines is sent
// as requests and streams, and what comes back is lines again.
import { silentLog } from "../../../src/base/log.ts";
import { startGateway } from "../../../src/frontends/gateway/gateway.ts";
import { plainSessionOptions } from "../../../src/kernel/compose/session-options.ts";
import { SessionHost } from "../../../src/kernel/hosting/session-host.ts";
import type { MemoryClient } from "../../../src/ports/transports/memory.ts";
import { control } from "../../support/gateway/gateway-place.ts";
import { createCountingIdentifiers, type Serve, workDir } from "../frame/memory-life.ts";
import { CampaignClient } from "./client.ts";
import { parseOrder } from "./crash-client.ts";

export const serveGateway: Serve = async ({ clock, life, createKernel }, { models }, number, note) => {
	const { kernel, configuration } = await createKernel(models, number);
	const sessions = new SessionHost({
		...{ kernel, configuration, workDir, clock, log: silentLog },
		identifiers: createCountingIdentifiers(life * 2 + 50),
		environment: {},
		options: plainSessionOptions,
	});
	const gateway = await startGateway({
		...{ sessions, clock, log: silentLog },
		server: { name: "agentwire", version: "0.0.0" },
		address: "127.0.0.1",
		port: 0,
		names: [],
		tls: null,
		page: null,
		// The campaign queues no prompts.
		queues: { read: async () => [], write: async () => {} },
		setup: null,
		tokens: {
			scopeOf: async (token) => (token === control ? "control" : null),
			find: async () => null,
			prepare: async () => {},
		},
		converse: async () => {},
	});
	const link = new Link(new CampaignClient(gateway.port, control), note);
	return {
		client: link,
		async finish() {
			await link.close();
			await sessions.stop();
			await gateway.close();
		},
		async abandon() {
			// What the server had written by then is read before a later answer is.
			await link.settle();
			void link.close();
			void gateway.close();
		},
	};
};

/** The client's end: lines in, lines out, HTTP between. */
class Link implements MemoryClient {
	readonly #client: CampaignClient;
	readonly #note: (line: string) => void;
	readonly #arrived: string[] = [];
	readonly #closing: (() => void)[] = [];
	#reader: ((line: string | null) => void) | null = null;
	#isClosed = false;

	constructor(client: CampaignClient, note: (line: string) => void) {
		this.#client = client;
		this.#note = note;
	}

	write(bytes: string | Buffer): void {
		void this.#send(String(bytes)).catch((thrown: unknown) => this.#take({ broken: String(thrown) }));
	}

	read(): Promise<string | null> {
		const line = this.#arrived.shift();
		if (line !== undefined || this.#isClosed) return Promise.resolve(line ?? null);
		return new Promise((resolve) => {
			this.#reader = resolve;
		});
	}

	/** Its streams end with the life. */
	end(): void {}
	pause(): void {}
	resume(): void {}
	disconnect(): void {}

	/** Resolves when what the server wrote before is read. */
	async settle(): Promise<void> {
		await this.#client.send({ path: "/", authorization: null }).catch(() => {});
		await new Promise((resolve) => setImmediate(resolve));
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		for (const close of this.#closing) close();
		this.#reader?.(null);
	}

	async #send(line: string): Promise<void> {
		const order = parseOrder(line);
		if (order.kind === "call") {
			const { id, method, params } = order;
			const answer = await this.#client.call(method, params);
			return this.#take({ id, answer });
		}
		if (order.kind === "history") {
			const history = await this.#client.send({ path: `/sessions/${order.sessionId}/history?limit=1000` });
			return this.#take({ sessionId: order.sessionId, history: history.body });
		}
		const close = await this.#client.messages(order.sessionId, order.cursor, (message) => this.#take(message));
		if (this.#isClosed) close();
		else this.#closing.push(close);
	}

	#take(message: object): void {
		if (this.#isClosed) return;
		const line = JSON.stringify(message);
		this.#note(line);
		const reader = this.#reader;
		this.#reader = null;
		if (reader === null) this.#arrived.push(line);
		else reader(line);
	}
}
