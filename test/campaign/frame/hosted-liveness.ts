// What the liveness of servers of many sessions has in common, whatever their clients speak: the server with the campaign's
// models, network, store and clock, and what its models answer.
import fc from "fast-check";
import { isRecord } from "../../../src/base/json.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { createFakeClock } from "../../support/host/campaign-clock.ts";
import type { ModelMove } from "../../support/models/campaign-model.ts";
import { createGatedProvider, type GatedProvider } from "../../support/models/gated-provider.ts";
import { nextTurn } from "../../support/sessions/campaign-server.ts";
import { createHostedServer } from "../../support/sessions/hosted-server.ts";
import type { MemoryFiles } from "../../support/store/memory-files.ts";
import { Actor } from "./actor.ts";
import type { Fields } from "./life.ts";
import type { Running } from "./liveness.ts";

/** One answer of a model: words, calls, and how it ends. */
export interface ModelAnswer<Call extends string> {
	readonly words: number;
	readonly calls: readonly Call[];
	readonly end: "done" | "break" | "refuse" | "lose" | "hang";
}

type End = ModelAnswer<string>["end"];

/** Answers with some of these calls, each as often as it is named. */
export function modelAnswers<Call extends string>(...calls: readonly Call[]): fc.Arbitrary<ModelAnswer<Call>> {
	return fc.record({
		words: fc.constantFrom(0, 1, 2, 40, 200),
		calls: fc.array(fc.constantFrom(...calls), { maxLength: 3 }),
		end: fc.constantFrom<End>("done", "done", "done", "done", "done", "hang", "break", "refuse", "lose"),
	});
}

const ends: Readonly<Record<End, readonly ModelMove[]>> = {
	done: [{ kind: "done", counted: true }],
	break: [{ kind: "break" }],
	refuse: [{ kind: "fail", failure: "status", status: 400 }],
	lose: [{ kind: "fail", failure: "connection", status: null }],
	hang: [],
};

/** A tool and its arguments; a text is sent as it is. */
export type CalledTool = readonly [name: string, value: object | string];

/** What the model does to give the answer; `toTool` says what a call of this id is. */
export function toMoves<Call extends string>(
	{ words, calls, end }: ModelAnswer<Call>,
	running: { calls: number },
	toTool: (kind: Call, id: string) => CalledTool,
): readonly ModelMove[] {
	const said = Array.from({ length: words }, (): ModelMove => ({ kind: "say", text: "word " }));
	const called = calls.map((kind): ModelMove => {
		running.calls += 1;
		const id = `call-${running.calls}`;
		const [name, value] = toTool(kind, id);
		return { kind: "call", id, name, arguments: typeof value === "string" ? value : JSON.stringify(value) };
	});
	return [...said, ...called, ...ends[end]];
}

export interface HostLimits {
	/** Sessions that may be loaded at once. */
	readonly slots: number;
	/** Turns that may run at once. */
	readonly turns: number;
	/** Seconds; 0 for never. */
	readonly unloadAfter: number;
	/** Turns of the event loop that every answer of a provider's takes to begin. */
	readonly latency: number;
	/** Bytes. */
	readonly outboxLimit: number;
}

export const hostLimits = {
	slots: fc.constantFrom(2, 3, 1024),
	turns: fc.constantFrom(2, 64, 64),
	unloadAfter: fc.constantFrom(0, 5, 300),
	latency: fc.constantFrom(0, 0, 1, 3),
	outboxLimit: fc.constantFrom(262_144, 262_144, 400),
};

/** A server of many sessions with its client. */
export interface HostRunning<How extends string> extends Running<How> {
	readonly provider: GatedProvider;
	readonly store: SessionStore;
	readonly files: MemoryFiles;
	/** Calls that models made so far. */
	calls: number;
}

type ServerOptions = Parameters<typeof createHostedServer>[0];

/** Starts the server; `quiet` counts the turns of the event loop, besides the latency, in which nothing may be seen. */
export async function startHost<How extends string, Client extends Actor<How>>(
	{ latency, slots, turns, unloadAfter, outboxLimit }: HostLimits,
	{ store, files }: { readonly store: SessionStore; readonly files: MemoryFiles },
	more: Pick<ServerOptions, "dialect" | "models" | "front">,
	quiet: number,
	createClient: (client: Awaited<ReturnType<typeof createHostedServer>>["client"]) => Client,
): Promise<HostRunning<How> & { readonly client: Client }> {
	const clock = createFakeClock();
	const provider = createGatedProvider(false);
	const { client, serving, close } = await createHostedServer({
		...{ files, store, clock, outboxLimit, ...more },
		fetch: async (url, init) => {
			for (let turn = 0; turn < latency; turn += 1) await nextTurn();
			return await provider.fetch(url, init);
		},
		agentwire: { limits: { loaded_sessions: slots, running_turns: turns, unload_after: unloadAfter } },
	});
	const { activity } = provider;
	return {
		...{ client: createClient(client), provider, store, files, clock, serving, activity, close },
		quietTurns: latency + quiet,
		unseen: 5,
		faults: [],
		calls: 0,
	};
}

/** A client whose server requests answers by methods. */
export abstract class HostActor<How extends string> extends Actor<How> {
	protected override readInteraction({ method, params }: Fields) {
		return { type: String(method), params: isRecord(params) ? params : {} };
	}

	protected override checkStray(): string {
		return "a response to nothing";
	}
}
