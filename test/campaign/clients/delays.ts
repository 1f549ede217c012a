// Whether clients that never read delay the others: by turns of the event loop, which are the same on every machine, and by
// milliseconds.
import { nextTurn } from "../../support/sessions/campaign-server.ts";
import { plainAttachment } from "../../support/sessions/session-doubles.ts";
import type { Place } from "./access.ts";
import { createStage } from "./stage.ts";

const stalledClients = 10;
const fastClients = 5;
/** Enough that every client that does not read loses events. */
const pieces = 2_000;
/** Turns of the event loop, and milliseconds, that may be added. */
const turnsAllowed = 2;
const millisecondsAllowed = 50;

interface Delays {
	readonly findings: readonly string[];
	readonly figures: Readonly<Record<string, number | string>>;
}

export async function findDelays(place: Place): Promise<Delays> {
	// The first one also loads what is loaded once.
	await measure(place, 0);
	const alone = await measure(place, 0);
	const among = await measure(place, stalledClients);
	const findings: string[] = [];
	if (place.isInProcess && among.turns > alone.turns + turnsAllowed) {
		findings.push(
			`with ${stalledClients} stalled clients a turn takes ${among.turns} turns of the event loop, not ${alone.turns}`,
		);
	}
	if (among.p99 > alone.p99 + millisecondsAllowed) {
		findings.push(
			`with ${stalledClients} stalled clients the p99 of delivery is ${among.p99.toFixed(1)} ms, not ${alone.p99.toFixed(1)}`,
		);
	}
	return {
		findings,
		figures: {
			"event-loop turns, nobody stalled": alone.turns,
			[`event-loop turns, ${stalledClients} stalled`]: among.turns,
			"p99 of delivery, nobody stalled": `${alone.p99.toFixed(2)} ms`,
			[`p99 of delivery, ${stalledClients} stalled`]: `${among.p99.toFixed(2)} ms`,
		},
	};
}

/** A turn of many pieces, one in each turn of the event loop. */
async function measure(
	{ connect, closeAll }: Place,
	stalled: number,
): Promise<{ readonly turns: number; readonly p99: number }> {
	const stage = await createStage({ store: "memory", latency: 0, deadline: 0 });
	const { session, gate } = stage;
	const sentAt = new Map<string, number>();
	const delays: number[] = [];
	let ended = 0;
	for (let n = 0; n < stalled; n += 1) {
		await (await connect(session)).attach({ ...plainAttachment, flow: "droppable" });
	}
	for (let n = 0; n < fastClients; n += 1) {
		const { events } = await (await connect(session)).attach({ ...plainAttachment, flow: "droppable" });
		void (async () => {
			for await (const batch of events) {
				const now = performance.now();
				for (const { body } of batch) {
					if (body.type === "turn.ended") ended += 1;
					if (body.type !== "content.delta" || body.part.type !== "text") continue;
					delays.push(now - (sentAt.get(body.part.text) ?? 0));
				}
			}
		})();
	}
	const own = await connect(session);
	await own.send({ type: "turn.start", input: "hi" });
	let turns = 0;
	const pass = async (): Promise<void> => {
		await nextTurn();
		turns += 1;
	};
	while (!gate.isWaiting() && turns < 1_000) await pass();
	for (let n = 0; n < pieces; n += 1) {
		sentAt.set(`${n} `, performance.now());
		gate.push([{ kind: "say", text: `${n} ` }]);
		await pass();
	}
	gate.push([{ kind: "done", counted: false }]);
	while (ended < fastClients && turns < 100_000) await pass();
	await stage.close();
	await closeAll();
	delays.sort((one, other) => one - other);
	return { turns, p99: delays[Math.floor(delays.length * 0.99)] ?? Number.POSITIVE_INFINITY };
}
