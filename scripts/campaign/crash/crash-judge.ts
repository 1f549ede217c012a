// Judges one session by all its lives, the last of which ended well: runs every check of crash-checks.ts that applies.
import {
	checkAgents,
	checkAgentsHaveTold,
	checkContext,
	checkContextHasTold,
	checkEffects,
	checkFiles,
	checkPlanMode,
	checkResults,
	checkStateHasTold,
	countNotices,
	countUnclosed,
	countUnknown,
	type SessionFiles,
	unfinishedCalls,
} from "./crash-checks.ts";
import { checkToldIsKept, committedPart, splitTold } from "./crash-deliveries.ts";
import type { Scenario } from "./crash-scenarios.ts";

/** One session's part of one life of the server. */
export interface JudgedLife {
	/** The lines its client was sent. */
	readonly told: readonly string[];
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

type Messages = ReturnType<typeof splitTold>["live"];

/** Faults as texts; none when all is well. */
export function judge(lives: readonly JudgedLife[], { planSwitches }: Pick<Scenario, "planSwitches">): string[] {
	const faults: string[] = [];
	let known: Messages = [];
	for (const [index, { told }] of lives.entries()) {
		const { replayed, live } = splitTold(told);
		if (replayed !== null) faults.push(...checkToldIsKept(known, replayed));
		// Also what a killed process wrote goes with the power, when nothing was committed since.
		const losesPower = lives.slice(index).some(({ lostPower }) => lostPower);
		const kept = losesPower ? committedPart(live) : live;
		if (replayed === null) known = known.length === 0 ? [...kept] : known;
		// What a replay gave was received as well, and stands for all that was kept before.
		else if (!losesPower || kept.length > 0) known = [...replayed, ...kept];
	}
	const last = lives.at(-1);
	if (last !== undefined) {
		const ran = lives.flatMap((life) => life.ran);
		const live = lives.flatMap(({ told }) => splitTold(told).live);
		faults.push(...checkEffects(ran, last.after.calls), ...judgeEnd(last));
		faults.push(...checkContextHasTold(live, last.after), ...checkStateHasTold(live, last.after.state));
		faults.push(...checkPlanMode(live, last.after.state, planSwitches), ...checkAgents(last.after));
		if (!lives.some(({ lostPower }) => lostPower)) faults.push(...checkAgentsHaveTold(live, last.after));
	}
	return faults;
}

function judgeEnd({ told, before, after, completed }: JudgedLife): string[] {
	const { replayed, live, all } = splitTold(told);
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
