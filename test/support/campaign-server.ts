// A whole server in memory for campaigns: session, connection, clock and model, with nothing outside the process.
import { KernelError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import type { ContextRow } from "../../src/events/conversation.ts";
import type { AskDeadlines } from "../../src/kernel/asks.ts";
import { Session } from "../../src/kernel/session.ts";
import { type Serving, serve } from "../../src/server/serve.ts";
import { createMemoryStore } from "../../src/store/memory-store.ts";
import type { SessionStore, StoredSession } from "../../src/store/session-store.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createMemoryTransport, type MemoryClient } from "../../src/transports/memory.ts";
import { createFakeClock, type FakeClock } from "./campaign-clock.ts";
import { createGatedModel, type GatedModel } from "./campaign-model.ts";
import { createCountingTools, type Effect } from "./campaign-tools.ts";

export interface CampaignServer {
	readonly session: Session;
	readonly serving: Serving;
	readonly client: MemoryClient;
	readonly clock: FakeClock;
	readonly gate: GatedModel;
	/** Effects since the start, in order. */
	readonly effects: readonly Effect[];
	/** Rows of the context since the start, in order. */
	readonly contextRows: readonly ContextRow[];
	/** Counts what happens behind the wire. */
	activity(): number;
	close(): Promise<void>;
}

export interface CampaignServerOptions {
	/** A store that lives longer than this server; a new one when absent. */
	readonly store?: SessionStore;
	readonly sessionId?: string;
	/** Turns of the event loop that every write to the store takes. */
	readonly latency?: number;
	/** Which writes to the store fail, counted from 1. */
	readonly failsWrite?: (n: number) => boolean;
	readonly deadlines?: AskDeadlines;
	readonly outboxLimit?: number;
	readonly lineLimit?: number;
	readonly onEffect?: (effect: Effect) => void;
}

const noDeadlines: AskDeadlines = { approval: 0, question: 0, "client-tool": 0 };
const sessionId = "5ac1e9f4-0000-4000-8000-000000000001";

export async function createCampaignServer(options: CampaignServerOptions = {}): Promise<CampaignServer> {
	const clock = createFakeClock();
	const gate = createGatedModel();
	const effects: Effect[] = [];
	const contextRows: ContextRow[] = [];
	let storeActivity = 0;
	const store = options.store ?? createMemoryStore();
	const stored = await store.openOrCreate("/work/project", options.sessionId ?? sessionId);
	const watched = watch(stored, options, contextRows, () => {
		storeActivity += 1;
	});
	const tools: readonly Tool[] = createCountingTools(clock, (effect) => {
		effects.push(effect);
		options.onEffect?.(effect);
	});
	const session = new Session({
		stored: watched,
		model: gate.model,
		unsetModelAlias: null,
		tools,
		limits: { maxSteps: 4, maxAttempts: 3 },
		deadlines: options.deadlines ?? noDeadlines,
		yolo: false,
		systemPrompt: async () => "Be brief.",
		clock,
		identifiers: createCountedIdentifiers(),
		random: () => 0.5,
		log: silentLog,
	});
	const { transport, client } = createMemoryTransport(options.lineLimit ?? 104_857_600, options.outboxLimit ?? 262_144);
	const server = { name: "agentwire", version: "0.0.0" };
	const serving = serve({ transport, session, server, log: silentLog, signal: new AbortController().signal });
	return {
		session,
		serving,
		client,
		clock,
		gate,
		effects,
		contextRows,
		activity: () => storeActivity + gate.activity() + effects.length,
		close: () => session.close(),
	};
}

function createCountedIdentifiers() {
	let count = 0;
	return {
		uuid: () => {
			count += 1;
			return `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
		},
		hex: (length: number) => {
			count += 1;
			return count.toString(16).padStart(length, "0").slice(-length);
		},
	};
}

function watch(
	stored: StoredSession,
	{ latency = 0, failsWrite = () => false }: CampaignServerOptions,
	contextRows: ContextRow[],
	onActivity: () => void,
): StoredSession {
	let writes = 0;
	const slowly = async (work: () => Promise<void>): Promise<void> => {
		onActivity();
		writes += 1;
		const fails = failsWrite(writes);
		for (let turn = 0; turn < latency; turn += 1) await nextTurn();
		if (fails) throw new KernelError("storage-failed", "The disk is full.");
		await work();
		onActivity();
	};
	return {
		...stored,
		appendContext: (rows) =>
			slowly(async () => {
				await stored.appendContext(rows);
				contextRows.push(...rows);
			}),
		appendEvents: (events) => slowly(() => stored.appendEvents(events)),
		appendCalls: (records) => slowly(() => stored.appendCalls(records)),
		updateState: (change) => slowly(() => stored.updateState(change)),
		sync: () => slowly(() => stored.sync()),
	};
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}
