// Judges one session by all its lives, the last of which ended well: runs every check of crash-checks.ts that applies.
import {
	checkAgents,
	checkAgentsHaveDelivered,
	checkContext,
	checkContextHasDelivered,
	checkEffects,
	checkFiles,
	checkPlanMode,
	checkResults,
	checkStateHasDelivered,
	countNotices,
	countUnclosed,
	countUnknown,
	type SessionFiles,
	unfinishedCalls,
} from "./crash-checks.ts";
import { checkDeliveredIsPersisted, committedPart, splitDelivered } from "./crash-deliveries.ts";
import type { Scenario } from "./crash-scenarios.ts";

/** One session's part of one life of the server. */
export interface JudgedLife {
	/** The lines its client was sent. */
	readonly delivered: readonly string[];
	/** The commands that ran. */
	readonly ran: readonly string[];
	/** The session's files as the life found them. */
	readonly before: SessionFiles;
	/** And as it left them. */
	readonly after: SessionFiles;
	/** Whether the client played its script to the end. */
	readonly completed: boolean;
	/** Whether it ended with the power: then only what was committed must be kept. */
	readonly lostPower: boolean;
}

type Messages = ReturnType<typeof splitDelivered>["live"];

/** Faults as texts; none when all is well. */
export function judge(lives: readonly JudgedLife[], { planSwitches }: Pick<Scenario, "planSwitches">): string[] {
	const faults: string[] = [];
	let known: Messages = [];
	for (const [index, { delivered }] of lives.entries()) {
		const { replayed, live } = splitDelivered(delivered);
		if (replayed !== null) faults.push(...checkDeliveredIsPersisted(known, replayed));
		// Also what a killed process wrote goes with the power, when nothing was committed since.
		const losesPower = lives.slice(index).some(({ lostPower }) => lostPower);
		const persisted = losesPower ? committedPart(live) : live;
		if (replayed === null) known = known.length === 0 ? [...persisted] : known;
		// What a replay gave was received as well, and stands for all that was kept before.
		else if (!losesPower || persisted.length > 0) known = [...replayed, ...persisted];
	}
	const last = lives.at(-1);
	if (last !== undefined) {
		const ran = lives.flatMap((life) => life.ran);
		const live = lives.flatMap(({ delivered }) => splitDelivered(delivered).live);
		faults.push(...checkEffects(ran, last.after.calls), ...judgeEnd(last));
		faults.push(...checkContextHasDelivered(live, last.after), ...checkStateHasDelivered(live, last.after.state));
		faults.push(...checkPlanMode(live, last.after.state, planSwitches), ...checkAgents(last.after));
		if (!lives.some(({ lostPower }) => lostPower)) faults.push(...checkAgentsHaveDelivered(live, last.after));
	}
	return faults;
}

function judgeEnd({ delivered, before, after, completed }: JudgedLife): string[] {
	const { replayed, live, all } = splitDelivered(delivered);
	const faults = [...checkFiles(before, after), ...checkContext(after.context)];
	faults.push(...checkResults(all, [...(replayed ?? []), ...live]));
	const answer = all.at(-1);
	if (!completed || answer?.result?.["status"] !== "finished") {
		faults.push(`the next prompt ended with ${JSON.stringify(answer)}`);
	}
	const unfinished = unfinishedCalls(before.calls).length;
	const notices = countNotices(live);
	const unknown = countUnknown(after.context) - countUnknown(before.context);
	if (notices !== (unfinished === 0 ? 0 : 1))
		faults.push(`${unfinished} calls were unfinished, ${notices} notices told`);
	const unclosed = countUnclosed(before);
	if (unknown !== unclosed) faults.push(`${unclosed} calls were to be closed as unknown, ${unknown} were`);
	if (unfinishedCalls(after.calls).length > 0) faults.push("calls are left unfinished");
	return faults;
}
