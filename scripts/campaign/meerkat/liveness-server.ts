// The server of an interleaving over many sessions, and how it comes to rest and to its end.
import type { SessionStore } from "../../../src/store/session-store.ts";
import { createFakeClock, type FakeClock } from "../../../test/support/campaign-clock.ts";
import { nextTurn } from "../../../test/support/campaign-server.ts";
import { createGatedProvider, type GatedProvider } from "../../../test/support/gated-provider.ts";
import { createHostedServer, type HostedServer } from "../../../test/support/hosted-server.ts";
import type { MemoryFiles } from "../../../test/support/memory-files.ts";
import { withPatience } from "../frame/patience.ts";
import type { HostedInterleaving } from "./liveness-actions.ts";
import { HostedClient, type Sent } from "./liveness-client.ts";

const paint = { name: "paint", description: "Paints.", input_schema: { type: "object", properties: {} } };

export interface Running {
	readonly interleaving: HostedInterleaving;
	readonly server: HostedServer;
	readonly client: HostedClient;
	readonly provider: GatedProvider;
	readonly clock: FakeClock;
	readonly files: MemoryFiles;
	readonly faults: string[];
}

export async function start(
	interleaving: HostedInterleaving,
	store: SessionStore,
	files: MemoryFiles,
): Promise<Running> {
	const clock = createFakeClock();
	const provider = createGatedProvider(false);
	const { latency, places, turns, unloadAfter, outboxLimit } = interleaving;
	const server = await createHostedServer({
		files,
		store,
		clock,
		fetch: async (url, init) => {
			for (let turn = 0; turn < latency; turn += 1) await nextTurn();
			return await provider.fetch(url, init);
		},
		agentwire: { limits: { loaded_sessions: places, running_turns: turns, unload_after: unloadAfter } },
		outboxLimit,
	});
	const running = {
		interleaving,
		server,
		client: new HostedClient(server.client),
		provider,
		clock,
		files,
		faults: [],
	};
	const { answers, bringsTool, isContract } = interleaving;
	const requests = answers ? ["approval/request", "question/request"] : [];
	running.client.request("initialize", { requests, ...(bringsTool ? { tools: [paint] } : {}) });
	if (isContract) running.client.request("capabilities/get", {});
	await settle(running);
	return running;
}

/** Real milliseconds in which what is under way shows itself: modules are loaded in no turn of this loop. */
const patience = 5000;

/**
 * Lets everything happen that can without the client, the models or time: until nothing moves, and whoever waits for a
 * response waits for a reason.
 */
export async function settle(running: Running): Promise<void> {
	const { provider, client, interleaving } = running;
	const seen = () => provider.activity() + client.received;
	const started = performance.now();
	for (let quiet = 0, last = seen(); quiet < interleaving.latency + 12 || !isExplained(running, started); ) {
		await nextTurn();
		const now = seen();
		quiet = now === last ? quiet + 1 : 0;
		last = now;
	}
}

/** Whether every open request waits for a model, for the client or for time. */
function isExplained(running: Running, started: number): boolean {
	const { client, faults } = running;
	const waited = performance.now() - started;
	// What the client does not read it cannot tell.
	if (client.isPaused || client.isGone) return waited > 5;
	const lost = client.unanswered().filter((sent) => !hasReason(sent, running));
	if (lost.length === 0) return true;
	if (waited < patience) return false;
	for (const { method, id } of lost) faults.push(`${method} ${id} waits for nothing`);
	return true;
}

function hasReason(sent: Sent, { client, provider }: Running): boolean {
	const sessionId = client.sessionOf(sent);
	if (sent.prompt === null || sessionId === null) return false;
	const cuts = ["turn/interrupt", "session/archive"];
	if (client.sent.some((other) => cuts.includes(other.method) && other.sessionId === sessionId && other.at > sent.at))
		return false;
	const model = client.slots.find((slot) => slot.sessionId === sessionId)?.model ?? "m";
	const last = client.events.findLast((event) => event.sessionId === sessionId);
	if (provider.gate(model).isWaiting()) return true;
	if (last?.type === "retrying" && last.at >= client.timePassedAt) return true;
	return client.openInteractions().some((interaction) => interaction.sessionId === sessionId);
}

/** The input has ended or the client is gone: the server comes to its end by itself. */
export async function shutDown(running: Running): Promise<void> {
	const { server, faults } = running;
	let isOver = false;
	const over = server.serving.ended
		.then(() => server.serving.finish())
		.then(() => {
			isOver = true;
		});
	await settle(running);
	await withPatience(over, patience);
	if (!isOver) faults.push("the server does not come to its end");
	await server.close();
}
