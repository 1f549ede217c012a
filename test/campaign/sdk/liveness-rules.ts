// What must hold of every interleaving of an SDK's client, whatever its dialect, checked on its transcript after the fact.
import type { Sent } from "../frame/actor.ts";
import type { HostRunning } from "../frame/hosted-liveness.ts";
import type { Fields } from "../frame/life.ts";
import { findTurns, type PlacedFact } from "../frame/turn-rules.ts";
import { writtenPath } from "./liveness-actions.ts";
import { type AnswerKind, type SdkActor, sessionOf } from "./liveness-client.ts";

/** An item of a turn, or a call, begins or is over. */
export interface ItemStep {
	readonly id: string;
	readonly isOver: boolean;
}

export type ItemFact = PlacedFact<ItemStep>;

/** The end of what a client is told of a turn, for the turn is told again. */
export const cutOff = "cut off";

/** Turns have ends, and so has every item of them, within its turn. */
export function checkTurns(facts: readonly ItemFact[], isComplete: boolean): readonly string[] {
	const { turns, faults } = findTurns(facts, isComplete);
	const ofItems = turns.flatMap(({ contents, end, at }) => {
		const open = new Set<string>();
		const seen = new Set<string>();
		const wrong = contents.flatMap(({ id, isOver }) => {
			if (isOver) return open.delete(id) ? [] : [`${id} is over and had not begun`];
			if (seen.has(id)) return [`${id} begins twice`];
			seen.add(id);
			open.add(id);
			return [];
		});
		if (end !== null && end.fact.kind === "end" && end.fact.what !== cutOff)
			wrong.push(...[...open].map((id) => `${id} has no end`));
		return wrong.map((fault) => `${fault} in the turn at ${at}`);
	});
	return [...faults, ...ofItems];
}

/** How a prompt ended. */
export type PromptEnd = "completed" | "interrupted" | "failed";

/** Whether a prompt ended as it may: cut off only when somebody did so, and then not otherwise. */
export function checkPrompt(
	client: SdkActor,
	sent: Sent,
	end: PromptEnd | null,
	cut: readonly string[],
): readonly string[] {
	const { response, at, id, params } = sent;
	if (response === null || end === null) return [];
	const isOfSession = (other: Fields): boolean => sessionOf(other) === sessionOf(params);
	const before = client.sent.filter((other) => other.method === "prompt" && other.at < at && isOfSession(other.params));
	// Only the first of those in line is cut off.
	const isCurrent = (place: number): boolean => before.every((other) => (other.response?.at ?? Infinity) < place);
	const cuts = [
		...client.sent.filter(
			(other) =>
				cut.includes(other.method) && isOfSession(other.params) && other.response?.message["error"] === undefined,
		),
		...client.interactions.flatMap(({ answer }) => (answer?.how === "stop" ? [{ ...answer, atRest: false }] : [])),
	].filter((other) => endOf(other) > at && other.at < response.at);
	if (end === "interrupted")
		return cuts.length > 0 || response.at >= client.endsAt ? [] : [`${id} is interrupted, and nobody did so`];
	// What moves when the interruption comes may come to its end before it.
	return cuts.some((other) => other.atRest && other.at > at && isCurrent(other.at))
		? [`${id} was interrupted and is ${end}`]
		: [];
}

/** When a cut had been made, at the latest. */
const endOf = (cut: Pick<Sent, "at"> & Partial<Pick<Sent, "response">>): number =>
	cut.response === undefined ? cut.at : (cut.response?.at ?? Infinity);

/** Files that were written although nobody allowed it. */
export async function findUnapproved({ client, files, calls }: HostRunning<AnswerKind>): Promise<readonly string[]> {
	const answered = client.interactions.flatMap(({ params, answer }) =>
		answer === null ? [] : [{ how: answer.how, about: JSON.stringify(params) }],
	);
	const found: string[] = [];
	for (let number = 1; number <= calls; number += 1) {
		const id = `call-${number}`;
		if ((await files.read(writtenPath(id))) === null) continue;
		const isAllowed = answered.some(
			({ how, about }) => how === "always" || (how === "yes" && about.includes(`"${id}"`)),
		);
		if (!isAllowed) found.push(`${id} wrote without a permission`);
	}
	return found;
}
