// What must hold of every interleaving over many sessions, checked on its transcript after the fact (meerkat-rpc §2, §3,
// docs/meerkat.md).
import { isRecord } from "../../../src/base/json.ts";
import type { HostedClient, Sent } from "./liveness-client.ts";
import { findRunFaults, type Run, runsOf } from "./liveness-runs.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Circumstances {
	/** Whether everything the server said was received. */
	readonly isComplete: boolean;
	/** Whether there may be too few places or turns. */
	readonly isScarce: boolean;
	/** Whether requests from this index of the transcript on may be cut off by the end of the program. */
	readonly endsAt: number;
}

/** `result`, or the name of the error; null while there is no response. */
export function outcomeOf({ response }: Sent): string | null {
	if (response === null) return null;
	const { error } = response.message;
	if (!isRecord(error)) return "result";
	return isRecord(error["data"]) ? String(error["data"]["code"]) : "an error without a name";
}

/** Faults as texts; none when all is well. */
export function findFaults(client: HostedClient, circumstances: Circumstances): readonly string[] {
	const runs = runsOf(client.events);
	return [
		...client.faults,
		...client.sent.flatMap((sent) => {
			const fault = checkOutcome(sent, client, circumstances);
			return fault === null ? [] : [`${sent.method} ${sent.id}: ${fault}`];
		}),
		...client.sent.flatMap((sent) => checkRun(sent, client, runs, circumstances)),
		...runs.flatMap((run) => findRunFaults(run, circumstances.isComplete)),
		...checkStrays(runs, client),
		...checkInteractions(client, runs),
		...client.sent.flatMap((sent) => checkList(sent, client)),
	];
}

/** Whether the outcome of a request is one it can have. */
function checkOutcome(sent: Sent, client: HostedClient, circumstances: Circumstances): string | null {
	const outcome = outcomeOf(sent);
	const { response, method, at } = sent;
	if (outcome === null || response === null) return circumstances.isComplete ? "no response" : null;
	const id = client.sessionOf(sent);
	const archives = client.sent.filter((other) => other.method === "session/archive" && other.sessionId === id);
	const isGone = archives.some((other) => outcomeOf(other) === "result" && (other.response?.at ?? at) < at);
	switch (outcome) {
		case "result":
			if (isGone && id !== null) return "it works on an archived session";
			return isRecord(response.message["result"]) ? checkResult(sent, response.message["result"]) : "no result";
		case "SESSION_NOT_FOUND":
			return archives.some((other) => other !== sent && other.at < response.at) ? null : "a session is not found";
		case "SESSION_BUSY": {
			const others = client.sent.filter((other) => other !== sent && other.prompt !== null && other.at < response.at);
			const isBusy = others.some((other) => client.sessionOf(other) === id && (other.response?.at ?? Infinity) > at);
			return method === "turn/start" && isBusy ? null : "a session is busy with nothing";
		}
		case "REQUEST_CANCELLED": {
			const isEnding = response.at >= circumstances.endsAt;
			const cuts = client.sent.filter(
				(other) =>
					["turn/interrupt", "session/archive"].includes(other.method) &&
					other.sessionId === id &&
					other.at > at &&
					other.at < response.at,
			);
			return isEnding || (sent.prompt !== null && cuts.length > 0) ? null : "it is cancelled by nobody";
		}
		case "OVERLOADED":
			return circumstances.isScarce ? null : "it is refused for want of room";
		case "PROVIDER_ERROR":
			return sent.prompt === null ? "it fails for a model" : null;
		default:
			return `it ends with ${outcome}: ${JSON.stringify(response.message).slice(0, 300)}`;
	}
}

function checkResult({ method, sessionId }: Sent, result: Fields): string | null {
	const isOwn = sessionId === null || result["session_id"] === undefined || result["session_id"] === sessionId;
	if (!isOwn) return "the result is of another session";
	if (method === "turn/interrupt") return result["interrupted"] === true ? null : "it does not say that it interrupts";
	if (method === "session/archive") return result["archived"] === true ? null : "it does not say that it archives";
	return null;
}

/** Outcomes of a request to run that never came to a run. */
const refusals = new Set(["SESSION_BUSY", "SESSION_NOT_FOUND", "OVERLOADED"]);

/** A request to run that was taken has one run, which is over when the response comes, and ends as the response says. */
function checkRun(
	sent: Sent,
	client: HostedClient,
	runs: readonly Run[],
	{ endsAt }: Circumstances,
): readonly string[] {
	const { prompt, response } = sent;
	if (prompt === null || response === null) return [];
	const outcome = outcomeOf(sent) ?? "";
	const own = runs.filter((run) => run.prompt === prompt);
	const name = `${sent.method} ${sent.id}`;
	const [run] = own;
	if (refusals.has(outcome)) return run === undefined ? [] : [`${name}: refused, and it runs`];
	if (run === undefined) {
		// The program ended, or the session was cut off, before it had begun.
		return outcome === "REQUEST_CANCELLED" && response.at >= endsAt ? [] : [`${name}: answered without a run`];
	}
	const faults: string[] = [];
	if (own.length > 1) faults.push(`${name}: it ran ${own.length} times`);
	if (run.sessionId !== client.sessionOf(sent)) faults.push(`${name}: it ran in another session`);
	if (run.end === null || run.end.at > response.at) faults.push(`${name}: answered before the end of its run`);
	const { result, error } = response.message;
	const event: Fields = run.end?.event ?? {};
	if (isRecord(result) && (event["type"] !== "run_completed" || event["result"] !== result["text"])) {
		faults.push(`${name}: the run does not end with its result`);
	}
	if (isRecord(error) && (event["type"] !== "run_failed" || event["error"] !== error["message"])) {
		faults.push(`${name}: the run does not fail with its error`);
	}
	return faults;
}

/** Runs that nobody asked for. */
function checkStrays(runs: readonly Run[], client: HostedClient): readonly string[] {
	const prompts = new Set(client.sent.map(({ prompt }) => prompt));
	return runs
		.filter(({ prompt }) => !prompts.has(prompt))
		.map(({ prompt }) => `a run that nobody asked for: ${prompt}`);
}

/** What is asked is of a run that goes on, under an id of its own. */
function checkInteractions({ interactions }: HostedClient, runs: readonly Run[]): readonly string[] {
	return interactions.flatMap((interaction, index) => {
		const isTwice = interactions.slice(0, index).some(({ id }) => id === interaction.id);
		const isInRun = runs.some(
			({ sessionId, at, end }) =>
				sessionId === interaction.sessionId && at < interaction.at && (end === null || end.at > interaction.at),
		);
		return [
			...(isTwice ? [`asked twice under ${interaction.id}`] : []),
			...(isInRun ? [] : [`${interaction.method} ${interaction.id} is asked outside of a run`]),
		];
	});
}

/** A list that was asked for when nothing moved has the sessions that are there, and says which of them run. */
function checkList({ method, at, atRest, response }: Sent, client: HostedClient): readonly string[] {
	if (method !== "session/list" || !atRest || response === null) return [];
	const result = isRecord(response.message["result"]) ? response.message["result"] : {};
	const listed = new Map<string, boolean>();
	for (const entry of Array.isArray(result["sessions"]) ? result["sessions"] : []) {
		if (!isRecord(entry)) continue;
		listed.set(String(entry["session_id"]), entry["state"] === "running" || entry["is_active"] === true);
	}
	const earlier = client.sent.filter((sent) => sent.at < at);
	const wasArchived = (id: string) =>
		earlier.some((sent) => sent.method === "session/archive" && sent.sessionId === id && outcomeOf(sent) === "result");
	const there = client.slots.flatMap(({ sessionId, createId }) => {
		const isMade = earlier.some(({ id }) => id === createId);
		return isMade && sessionId !== null && !wasArchived(sessionId) ? [sessionId] : [];
	});
	const faults = there.filter((id) => !listed.has(id)).map((id) => `${id} is not in the list`);
	for (const [id, isRunning] of listed) {
		if (!there.includes(id)) faults.push(`${id} is in the list`);
		const runs = earlier.some(
			(sent) => sent.prompt !== null && client.sessionOf(sent) === id && (sent.response?.at ?? Infinity) > at,
		);
		if (runs !== isRunning) faults.push(`${id} is listed as ${isRunning ? "running" : "idle"}`);
	}
	return faults;
}
