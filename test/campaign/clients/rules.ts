// What has to hold of a round once everybody has read everything (docs/explanation/guarantees.md).
import type { CommandValues } from "../../../src/api/commands.ts";
import type { AgentEvent } from "../../../src/api/values/event.ts";
import type { Interaction, SettledBy } from "../../../src/api/values/interaction.ts";
import type { AnswerKind } from "./actions.ts";
import type { Round } from "./round.ts";

export interface SentAnswer {
	readonly interaction: Interaction;
	readonly how: AnswerKind;
	readonly clientId: string | null;
	/** Null while nothing came back. */
	value: CommandValues["interaction.respond"] | null;
}

export function judge(
	round: Pick<Round, "clients" | "answers" | "turns">,
	journal: readonly AgentEvent[],
): readonly string[] {
	return [
		...judgeNumbers(journal),
		...judgeStreams(round, journal),
		...judgeTurns(round, journal),
		...judgeAnswers(round, journal),
	];
}

function judgeNumbers(journal: readonly AgentEvent[]): readonly string[] {
	return journal.flatMap(({ seq }, index) =>
		seq === index + 1 ? [] : [`event ${index + 1} of the journal has the number ${seq}`],
	);
}

/** What every client put together is the journal, from its first cursor on. */
function judgeStreams({ clients }: Pick<Round, "clients">, journal: readonly AgentEvent[]): readonly string[] {
	const texts = journal.map(toText);
	const known = new Map<AgentEvent, string>();
	const textOf = (event: AgentEvent): string => {
		const text = known.get(event) ?? toText(event);
		known.set(event, text);
		return text;
	};
	return clients.flatMap(({ name, streams }) =>
		streams.flatMap(({ first, durable, faults, texts: items }) => {
			const found = [...faults, ...items.faults];
			const wrong = durable.findIndex((event, index) => textOf(event) !== texts[first + index]);
			if (wrong >= 0) found.push(`event ${first + wrong + 1} is not what the journal has`);
			return found.map((fault) => `${name}: ${fault}`);
		}),
	);
}

/** Fields may come in another order from a file: those of an event and of its body are sorted. */
function toText(event: AgentEvent): string {
	return JSON.stringify({ ...sorted(event), body: sorted(event.body) });
}

function sorted(value: object): object {
	return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function judgeTurns({ turns }: Pick<Round, "turns">, journal: readonly AgentEvent[]): readonly string[] {
	return turns.flatMap((turn) => {
		const ends = journal.filter(
			({ turnId, body, agentPath }) => turnId === turn && body.type === "turn.ended" && agentPath.length === 0,
		);
		return ends.length === 1 ? [] : [`the turn ${turn} ends ${ends.length} times`];
	});
}

/** Every request is settled once, and everybody is shown the same about it. */
function judgeAnswers({ answers }: Pick<Round, "answers">, journal: readonly AgentEvent[]): readonly string[] {
	const faults: string[] = [];
	const settled = new Map<string, SettledBy | undefined>();
	const requested = new Set<string>();
	for (const { body } of journal) {
		if (body.type === "interaction.requested") requested.add(body.interaction.id);
		if (body.type !== "interaction.resolved") continue;
		if (settled.has(body.interactionId)) faults.push(`${body.interactionId} is settled twice`);
		if (!requested.has(body.interactionId))
			faults.push(`${body.interactionId} is settled without having been requested`);
		settled.set(body.interactionId, body.by);
	}
	for (const id of requested) if (!settled.has(id)) faults.push(`${id} is never settled`);
	const winners = new Set<string>();
	for (const { interaction, how, clientId, value } of answers) {
		const { id } = interaction;
		const what = `the ${how} answer of ${clientId} to ${id}`;
		if (value === null) {
			faults.push(`${what} has no value`);
			continue;
		}
		const by = JSON.stringify(settled.get(id));
		if (value.settled && winners.has(id)) faults.push(`${what} settles it again`);
		if (value.settled) winners.add(id);
		if (value.by !== null && JSON.stringify(value.by) !== by)
			faults.push(`${what} is told ${JSON.stringify(value.by)}, and the journal has ${by}`);
		if (value.settled && value.by === null) faults.push(`${what} is not told who settled it`);
		const isValid = how === "right" || how === "refusal";
		if (isValid && value.by === null) faults.push(`${what} is valid, and leaves it open`);
		if (isValid && value.settled && (value.by?.kind !== "client" || value.by.clientId !== clientId)) {
			faults.push(`${what} settles it for ${JSON.stringify(value.by)}`);
		}
	}
	return faults;
}
