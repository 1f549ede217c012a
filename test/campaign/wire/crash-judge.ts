// What Kimi Wire and legacy promise of a session over all its lives, beyond what holds of its files in any dialect.
import type { SessionLife } from "../frame/crash-round.ts";
import { openCalls } from "../frame/journal-file.ts";
import { checkContextHas, type Message, readJsonLines, type SessionFiles } from "../frame/session-files.ts";
import type { DeliveredLine } from "./crash-client.ts";
import { checkDeliveredIsPersisted, committedPart, splitDelivered } from "./crash-deliveries.ts";

const noticeText = "The program ended unexpectedly";

/** `planSwitches`: how often plan mode is switched in all. */
export function judgeWire(lives: readonly SessionLife[], planSwitches: number): string[] {
	const last = lives.at(-1);
	if (last === undefined) return [];
	const faults: string[] = [];
	let known: readonly Message[] = [];
	for (const [index, life] of lives.entries()) {
		const { replayed, isReplayWhole, live } = splitDelivered(life);
		if (isReplayWhole) faults.push(...checkDeliveredIsPersisted(known, replayed ?? []));
		// Also what a killed process wrote goes with the power, when nothing was committed since.
		const losesPower = lives.slice(index).some(({ lostPower }) => lostPower);
		const toStored = (messages: readonly Message[]) => (losesPower ? committedPart(messages) : messages);
		const stored = toStored(live);
		if (replayed === null) known = [...known, ...stored];
		// A part of a replay says no more than what was known before, if anything was.
		else if (!isReplayWhole) known = known.length === 0 ? toStored(replayed) : known;
		// What a replay gave was received as well, and replaces all that was known before.
		else if (!losesPower || stored.length > 0) known = [...replayed, ...stored];
	}
	const live = lives.flatMap((life) => splitDelivered(life).live);
	const { after } = last;
	faults.push(...judgeEnd(last), ...checkContextHas(countDelivered(live), after));
	faults.push(...checkStateHasDelivered(live, after.state), ...checkPlanMode(live, after.state, planSwitches));
	if (!lives.some(({ lostPower }) => lostPower)) faults.push(...checkAgentsHaveDelivered(live, after));
	return faults;
}

function judgeEnd(life: SessionLife): string[] {
	const { replayed, live, all } = splitDelivered(life);
	const faults = checkResults(all, [...(replayed ?? []), ...live]);
	const answer = all.at(-1);
	if (answer?.result?.["status"] !== "finished") faults.push(`the next prompt ended with ${JSON.stringify(answer)}`);
	const unfinished = openCalls(life.before.journal).length;
	const notices = live.filter(({ payload }) => String(payload["text"] ?? "").includes(noticeText)).length;
	if (notices !== (unfinished === 0 ? 0 : 1))
		faults.push(`${unfinished} calls were unfinished, ${notices} notices sent`);
	return faults;
}

/** The inputs of turns, and the results of the steps that were over, as far as they were delivered. */
function countDelivered(live: readonly Message[]): { readonly inputs: number; readonly results: number } {
	let inputs = 0;
	let results = 0;
	let inStep = 0;
	for (const { type, payload } of live) {
		if (type === "ToolResult" || type === "tool_result") inStep += 1;
		if (type === "SteerInput") inputs += 1;
		if (type !== "StepBegin" && type !== "step_begin") continue;
		if (payload["n"] === 1) inputs += 1;
		else results += inStep;
		inStep = 0;
	}
	return { inputs, results };
}

/** What a request says that approving it for the session covers. */
function shownPatterns(display: unknown): readonly string[] {
	const [, shown = ""] = /"Approving it for the session covers (.*?)\."/.exec(JSON.stringify(display)) ?? [];
	return [...shown.matchAll(/`([^`]*)`/g)].map(([, pattern = ""]) => pattern);
}

/** Whether an approval for the session that was delivered is in the state. */
export function checkStateHasDelivered(live: readonly Message[], state: Buffer): string[] {
	const approved = new Set(
		live.flatMap(({ type, payload }) =>
			type === "ApprovalResponse" && payload["response"] === "approve_for_session" ? [payload["request_id"]] : [],
		),
	);
	const patterns = live.flatMap(({ type, payload }) =>
		type === "ApprovalRequest" && approved.has(payload["id"]) ? shownPatterns(payload["display"]) : [],
	);
	const persisted = state.toString();
	return [...new Set(patterns)]
		.filter((pattern) => !persisted.includes(JSON.stringify(pattern)))
		.map((pattern) => `an approval of ${pattern} for the session was delivered and is not in the state`);
}

/** What was delivered of plan mode over all lives: switched no oftener than it was, and at the end as it is persisted. */
function checkPlanMode(live: readonly Message[], state: Buffer, switches: number): string[] {
	const delivered = live.flatMap(({ type, payload }) =>
		type === "StatusUpdate" && typeof payload["plan_mode"] === "boolean" ? [payload["plan_mode"]] : [],
	);
	const changes = delivered.filter((mode, index) => mode !== (delivered[index - 1] ?? false)).length;
	const faults =
		changes > switches ? [`plan mode was reported to change ${changes} times: ${delivered.join(", ")}`] : [];
	const persisted = /"plan_mode": true/.test(state.toString());
	const last = delivered.at(-1) ?? persisted;
	return last === persisted
		? faults
		: [...faults, `plan mode was reported to be ${last}, and is persisted as ${persisted}`];
}

/** Whether what was delivered of subagents is in their own logs, in its order. */
function checkAgentsHaveDelivered(live: readonly Message[], { agents }: SessionFiles): string[] {
	const left = new Map(
		agents.map(({ id, events }) => [id, readJsonLines(events).values.map(({ message }) => JSON.stringify(message))]),
	);
	return live.flatMap(({ type, payload }) => {
		if (type !== "SubagentEvent") return [];
		const id = String(payload["agent_id"]);
		const log = left.get(id) ?? [];
		const found = log.indexOf(JSON.stringify(payload["event"]));
		left.set(id, log.slice(found + 1));
		return found === -1 ? [`delivered of subagent ${id} and not in its log: ${JSON.stringify(payload["event"])}`] : [];
	});
}

/** Whether every prompt answered with a result is answered in the log by the end of its turn. */
function checkResults(all: readonly DeliveredLine[], logged: readonly Message[]): string[] {
	const answered = all.filter(
		({ id, method, result }) => method === null && result !== null && id?.startsWith("prompt-"),
	);
	const ended = logged.filter(({ type }) => type === "TurnEnd").length;
	return answered.length > ended ? [`${answered.length} prompts answered, ${ended} ends of turns persisted`] : [];
}
