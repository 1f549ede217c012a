// A whole server in memory for campaigns: session, connection, clock and model, with nothing outside the process.

import type { ContextRow } from "../../../src/api/values/conversation.ts";
import { KernelError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { Tool } from "../../../src/core/tools/tool.ts";
import { type Serving, serve } from "../../../src/frontends/serve/serve.ts";
import { noCompatibility } from "../../../src/frontends/shared/dialect.ts";
import type { InteractionDeadlines } from "../../../src/kernel/interactions/interaction-table.ts";
import { Session } from "../../../src/kernel/session/session.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore, StoredAgent, StoredSession } from "../../../src/ports/store/session-store.ts";
import { createMemoryTransport, type MemoryClient } from "../../../src/ports/transports/memory.ts";
import { createFakeClock, type FakeClock } from "../host/campaign-clock.ts";
import { createGatedModel, type GatedModel } from "../models/campaign-model.ts";
import { heldSession } from "../store/held-session.ts";
import { createMemoryFiles, type MemoryFiles } from "../store/memory-files.ts";
import { createCountingTools, createTalkingTools, type Effect } from "./campaign-tools.ts";
import { chosenModel, createQuietParts } from "./session-doubles.ts";

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
	/** The same of each subagent, by its id. */
	readonly agentRows: ReadonlyMap<string, readonly ContextRow[]>;
	/** Whether plan mode is on, as the session keeps it. */
	planMode(): boolean;
	/** Counts what happens inside the server. */
	activity(): number;
	close(): Promise<void>;
}

export interface CampaignServerOptions {
	/** A store that lives longer than this server; a new one when absent. */
	readonly store?: SessionStore;
	/** Where plans are stored; new files when absent. */
	readonly files?: MemoryFiles;
	readonly sessionId?: string;
	/** Turns of the event loop that every write to the store takes. */
	readonly latency?: number;
	/** Which writes to the store fail, counted from 1. */
	readonly failsWrite?: (n: number) => boolean;
	readonly deadlines?: InteractionDeadlines;
	readonly outboxLimit?: number;
	readonly lineLimit?: number;
	readonly onEffect?: (effect: Effect) => void;
}

const noDeadlines: InteractionDeadlines = { approval: 0, question: 0, "client-tool": 0 };
const sessionId = "5ac1e9f4-0000-4000-8000-000000000001";

export async function createCampaignServer(options: CampaignServerOptions = {}): Promise<CampaignServer> {
	const clock = createFakeClock();
	const gate = createGatedModel();
	const effects: Effect[] = [];
	const contextRows: ContextRow[] = [];
	const agentRows = new Map<string, ContextRow[]>();
	let storeActivity = 0;
	const store = options.store ?? createMemoryStore();
	const files = options.files ?? createMemoryFiles();
	const stored = await store.openOrCreate("/home/me/project", options.sessionId ?? sessionId);
	const watched = watch(stored, options, contextRows, agentRows, () => {
		storeActivity += 1;
	});
	const countingTools = (isInside: boolean): readonly Tool[] =>
		createCountingTools(clock, isInside, (effect) => {
			effects.push(effect);
			options.onEffect?.(effect);
		});
	const quiet = createQuietParts(watched);
	const session = new Session({
		stored: heldSession(watched),
		chosen: chosenModel(gate.model),
		...quiet,
		createTools: async (operations) => [...countingTools(false), ...createTalkingTools(operations, files)],
		planPlace: { ...quiet.planPlace, files },
		subagents: {
			...quiet.subagents,
			types: [{ name: "coder", whenToUse: "does it.", toolPaths: [], model: null, role: "", startsWithGit: false }],
			createTools: async () => countingTools(true),
			parallel: 2,
		},
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
	const serving = serve({
		transport,
		session,
		server,
		compatibility: noCompatibility,
		log: silentLog,
		signal: new AbortController().signal,
	});
	return {
		session,
		serving,
		client,
		clock,
		gate,
		effects,
		contextRows,
		agentRows,
		planMode: () => watched.state().planMode,
		activity: () => storeActivity + gate.activity() + effects.length,
		close: () => session.close(AbortSignal.timeout(1000)),
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
	agentRows: Map<string, ContextRow[]>,
	onActivity: () => void,
): StoredSession {
	let writes = 0;
	const slowly = async <T>(work: () => Promise<T>): Promise<T> => {
		onActivity();
		writes += 1;
		const fails = failsWrite(writes);
		for (let turn = 0; turn < latency; turn += 1) await nextTurn();
		if (fails) throw new KernelError("storage-failed", "The disk is full.");
		const value = await work();
		onActivity();
		return value;
	};
	const watchAgent = (agent: StoredAgent): StoredAgent => {
		const { id } = agent.description;
		const rows = agentRows.get(id) ?? [...agent.contextRows];
		agentRows.set(id, rows);
		return {
			...agent,
			begin: (prompt) => slowly(() => agent.begin(prompt)),
			changeContext: (change) =>
				slowly(async () => {
					await agent.changeContext(change);
					if (change.kind === "replace") rows.length = 0;
					rows.push(...change.rows);
				}),
			appendEvents: (events) => slowly(() => agent.appendEvents(events)),
			setStatus: (status) => slowly(() => agent.setStatus(status)),
			appendOutput: (text) => slowly(() => agent.appendOutput(text)),
		};
	};
	return {
		...stored,
		createAgent: async (description) => watchAgent(await stored.createAgent(description)),
		async openAgent(id) {
			const agent = await stored.openAgent(id);
			return agent === null ? null : watchAgent(agent);
		},
		commit: (batch, options) =>
			slowly(async () => {
				const numbered = await stored.commit(batch, options);
				const { context } = batch;
				if (context?.kind === "replace") contextRows.splice(0, contextRows.length, ...context.rows);
				if (context?.kind === "append") contextRows.push(...context.rows);
				return numbered;
			}),
	};
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}
