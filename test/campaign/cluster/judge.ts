// What must be true when a round is over: the journals in the database against everything that clients were sent, and against the
// file in which the calls left their effects.
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent } from "../../../src/api/values/event.ts";
import { isRecord } from "../../../src/base/json.ts";
import { toPublicEvent } from "../../../src/frontends/shared/public-event.ts";
import { checkStore } from "../../../src/ports/store/postgres/store-check.ts";
import { fromEventRecord } from "../../../src/ports/store/record.ts";
import type { Tally } from "../frame/campaign.ts";
import type { Fields } from "../gateway/client.ts";
import { countTakeOvers, readAudit } from "./audit.ts";
import type { SessionLoad } from "./load.ts";
import { fromPrompt, turnOf } from "./plan.ts";
import type { Stage } from "./stage.ts";

/** Milliseconds for a client to have everything. */
const patience = 20_000;
/** Events of one page of a history. */
const pageLength = 1000;

export async function judge(stage: Stage, loads: readonly SessionLoad[], tally: Tally): Promise<void> {
	const { database, findings } = stage;
	findings.push(...(await checkStore(database)).problems, ...(await readAudit(database)));
	tally.add("sessions that went to another process", await countTakeOvers(database));
	const effects = await readEffects(stage);
	const started = new Set<string>();
	for (const [index, load] of loads.entries()) {
		const journal = await readJournal(stage, load.id);
		tally.add("events", journal.length);
		judgeTurns(stage, load, journal);
		judgeEffects(stage, load, journal, effects, started, tally);
		await judgeFollower(stage, load, journal);
		// Reading everything back through each gateway takes long: some of the sessions show as well whether it is right.
		if (index % 10 === 0) await judgeHistories(stage, load, journal);
	}
	for (const [id, times] of effects) {
		tally.add("effects", times);
		if (times > 1) findings.push(`the call ${id} took effect ${times} times`);
		if (!started.has(id)) findings.push(`the call ${id} took effect, and no journal has its start`);
	}
}

async function readEffects({ effects }: Stage): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for (const line of (await readFile(effects, "utf8")).split("\n")) {
		if (line !== "") counts.set(line, (counts.get(line) ?? 0) + 1);
	}
	return counts;
}

/** The events in the database, whose numbers and terms are looked at by the store's own check. */
async function readJournal({ database, findings }: Stage, id: string): Promise<readonly AgentEvent[]> {
	const rows = await database.query(
		`select e.body, s.epoch from ${database.schema}.event e join ${database.schema}.session s on s.id = e.session_id
		where s.id = $1 order by e.seq`,
		[id],
	);
	return rows.flatMap(({ body, epoch }) => {
		const event = fromEventRecord(JSON.parse(String(body)), { sessionId: id, epoch: String(epoch) });
		if (event === null) findings.push(`an event of ${id} cannot be read: ${String(body).slice(0, 200)}`);
		return event ?? [];
	});
}

/** Each accepted turn is there once and has one end, and no other turn is there. */
export function judgeTurns(
	{ findings }: Pick<Stage, "findings">,
	{ id, accepted }: Pick<SessionLoad, "id" | "accepted">,
	journal: readonly AgentEvent[],
): void {
	const plans = new Map<string, number>();
	const starts = new Map<string, number>();
	const ends = new Map<string, number>();
	for (const { turnId, body } of journal) {
		if (turnId === null) continue;
		if (body.type === "turn.ended") ends.set(turnId, (ends.get(turnId) ?? 0) + 1);
		if (body.type !== "turn.started") continue;
		starts.set(turnId, (starts.get(turnId) ?? 0) + 1);
		const plan = typeof body.input === "string" ? fromPrompt(body.input) : null;
		if (plan !== null) plans.set(plan.name, (plans.get(plan.name) ?? 0) + 1);
	}
	for (const { turnId, plan } of accepted) {
		if (starts.get(turnId) !== 1)
			findings.push(`turn ${turnId} of ${id} was accepted, and began ${starts.get(turnId) ?? 0} times`);
		if (plans.get(plan.name) !== 1)
			findings.push(`the prompt ${plan.name} of ${id} has ${plans.get(plan.name) ?? 0} turns`);
	}
	for (const [turnId] of starts) {
		if (ends.get(turnId) !== 1) findings.push(`turn ${turnId} of ${id} has ${ends.get(turnId) ?? 0} ends`);
	}
}

/** The effect of a call comes after its start is stored, and once; one whose result is stored has taken effect. */
export function judgeEffects(
	{ findings }: Pick<Stage, "findings">,
	{ id }: Pick<SessionLoad, "id">,
	journal: readonly AgentEvent[],
	effects: ReadonlyMap<string, number>,
	started: Set<string>,
	tally: Tally,
): void {
	for (const { body } of journal) {
		if (body.type === "tool.started") {
			if (started.has(body.toolCallId)) findings.push(`the call ${body.toolCallId} of ${id} was started twice`);
			started.add(body.toolCallId);
		}
		if (body.type === "tool.outcome-unknown") tally.add("calls of unknown outcome");
		if (body.type === "tool.result" && !body.result.is_error && effects.get(body.toolCallId) !== 1) {
			findings.push(
				`the call ${body.toolCallId} of ${id}, turn ${turnOf(body.toolCallId)}, succeeded, and took effect ${effects.get(body.toolCallId) ?? 0} times`,
			);
		}
	}
}

async function judgeFollower(
	{ findings }: Stage,
	{ id, follower }: SessionLoad,
	journal: readonly AgentEvent[],
): Promise<void> {
	const expected = journal.filter(({ seq = 0 }) => seq > follower.from);
	await follower.until(() => follower.events.length >= expected.length, patience);
	const difference = differs(follower.events, expected);
	if (difference !== null) findings.push(`a client of ${id}, over ${follower.connections} connections: ${difference}`);
}

async function judgeHistories(stage: Stage, { id }: SessionLoad, journal: readonly AgentEvent[]): Promise<void> {
	for (const gateway of stage.gateways) {
		const client = stage.clientOf(gateway);
		let events: Fields[] = [];
		for (let before: unknown = ""; before !== null; ) {
			const { body } = await client.send({
				path: `/sessions/${id}/history?limit=${pageLength}${before === "" ? "" : `&before=${String(before)}`}`,
			});
			const page: Fields = isRecord(body) ? body : {};
			const listed = page["events"];
			if (!Array.isArray(listed)) {
				stage.findings.push(`${gateway.name} gave no history of ${id}: ${JSON.stringify(body)}`);
				return;
			}
			events = [...listed.filter(isRecord), ...events];
			before = page["before"] ?? null;
		}
		const difference = differs(events, journal);
		if (difference !== null) stage.findings.push(`the history of ${id} at ${gateway.name}: ${difference}`);
	}
}

export function differs(own: readonly Fields[], journal: readonly AgentEvent[]): string | null {
	for (const [index, event] of journal.entries()) {
		const stored = JSON.parse(JSON.stringify(toPublicEvent(event)));
		const delivered = own[index];
		if (delivered === undefined) return `event ${String(event.seq)} of ${journal.at(-1)?.seq} is missing`;
		if (!isDeepStrictEqual(delivered, stored))
			return `event ${String(event.seq)} is ${JSON.stringify(delivered)}, not ${JSON.stringify(stored)}`;
	}
	const more = own.length - journal.length;
	return more === 0 ? null : `there are ${more} events more than in the journal`;
}
