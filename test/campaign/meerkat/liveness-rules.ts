// What must hold of every interleaving over many sessions, checked on its transcript after the fact (meerkat-rpc §2, §3,
// docs/guides/meerkat.md).
import { isRecord } from "../../../src/base/json.ts";
import type { Sent } from "../frame/actor.ts";
import type { Fields } from "../frame/life.ts";
import { type HostedActor, promptOf, sessionOfRequest } from "./liveness-client.ts";
import { answersOf, findRuns, outcomeOf, type Run, refusals } from "./liveness-runs.ts";

/** Faults as texts; none when all is well. `isScarce`: there may be too few slots or turns. */
export function findFaults(client: HostedActor, isScarce: boolean): readonly string[] {
	const { runs, faults } = findRuns(client.events, answersOf(client), !client.isGone);
	return [
		...faults,
		...client.sent.flatMap((sent) => {
			const fault = checkOutcome(sent, client, isScarce);
			return fault === null ? [] : [`${sent.id}: ${fault}`];
		}),
		...client.sent.flatMap((sent) => checkRun(sent, client, runs)),
		...checkStrays(runs, client),
		...checkInteractions(client, runs),
		...client.sent.flatMap((sent) => checkList(sent, client)),
	];
}

/** Whether the outcome of a request is one it can have. */
function checkOutcome(sent: Sent, client: HostedActor, isScarce: boolean): string | null {
	const outcome = outcomeOf(sent);
	const { response, method, at } = sent;
	if (outcome === null || response === null) return null;
	const id = client.sessionOf(sent);
	const archives = client.sent.filter((other) => other.method === "session/archive" && client.sessionOf(other) === id);
	const isGone = archives.some((other) => outcomeOf(other) === "result" && (other.response?.at ?? at) < at);
	switch (outcome) {
		case "result":
			if (isGone && id !== null && method !== "session/history") return "it works on an archived session";
			return isRecord(response.message["result"]) ? checkResult(sent, response.message["result"]) : "no result";
		case "SESSION_NOT_FOUND":
			return archives.some((other) => other !== sent && other.at < response.at) ? null : "a session is not found";
		case "SESSION_BUSY": {
			const others = client.sent.filter(
				(other) => other !== sent && promptOf(other) !== null && other.at < response.at,
			);
			const isBusy = others.some((other) => client.sessionOf(other) === id && (other.response?.at ?? Infinity) > at);
			return method === "turn/start" && isBusy ? null : "a session is busy with nothing";
		}
		case "REQUEST_CANCELLED": {
			const isEnding = response.at >= client.endsAt;
			const cuts = client.sent.filter(
				(other) =>
					["turn/interrupt", "session/archive"].includes(other.method) &&
					client.sessionOf(other) === id &&
					other.at > at &&
					other.at < response.at,
			);
			return isEnding || (promptOf(sent) !== null && cuts.length > 0) ? null : "it is cancelled by nobody";
		}
		case "OVERLOADED":
			return isScarce ? null : "it is refused for want of room";
		case "PROVIDER_ERROR":
			return promptOf(sent) === null ? "it fails for a model" : null;
		default:
			return `it ends with ${outcome}: ${JSON.stringify(response.message).slice(0, 300)}`;
	}
}

function checkResult({ method, params }: Sent, result: Fields): string | null {
	const { session_id: sessionId } = params;
	const isOwn = sessionId === undefined || result["session_id"] === undefined || result["session_id"] === sessionId;
	if (!isOwn) return "the result is of another session";
	if (method === "turn/interrupt") {
		const isInterrupting = result["interrupted"] === true || result["result"] === "staged_noop";
		return isInterrupting ? null : "it does not say that it interrupts";
	}
	if (method === "session/archive") return result["archived"] === true ? null : "it does not say that it archives";
	return null;
}

/** A request to run that was accepted has one run, which ends as the response says. */
function checkRun(sent: Sent, client: HostedActor, runs: readonly Run[]): readonly string[] {
	const { response } = sent;
	const prompt = promptOf(sent);
	if (prompt === null || response === null) return [];
	const outcome = outcomeOf(sent) ?? "";
	const own = runs.filter((run) => run.name === prompt);
	const name = sent.id;
	const [run] = own;
	if (refusals.has(outcome)) return run === undefined ? [] : [`${name}: refused, and it runs`];
	if (run === undefined) {
		// The program ended, or the session was cut off, before it had begun.
		return outcome === "REQUEST_CANCELLED" && response.at >= client.endsAt ? [] : [`${name}: answered without a run`];
	}
	const faults: string[] = [];
	if (own.length > 1) faults.push(`${name}: it ran ${own.length} times`);
	if (run.session !== client.sessionOf(sent)) faults.push(`${name}: it ran in another session`);
	const { result, error } = response.message;
	const event: Fields = run.end?.content?.event ?? {};
	if (isRecord(result) && (event["type"] !== "run_completed" || event["result"] !== result["text"])) {
		faults.push(`${name}: the run does not end with its result`);
	}
	if (isRecord(error) && (event["type"] !== "run_failed" || event["error"] !== error["message"])) {
		faults.push(`${name}: the run does not fail with its error`);
	}
	return faults;
}

/** Runs that nobody requested. */
function checkStrays(runs: readonly Run[], client: HostedActor): readonly string[] {
	const prompts = new Set<string | null>(client.sent.map(promptOf));
	return runs.filter(({ name }) => !prompts.has(name)).map(({ name }) => `a run that nobody requested: ${name}`);
}

/** What the server requests is of a run that goes on. */
function checkInteractions({ interactions }: HostedActor, runs: readonly Run[]): readonly string[] {
	return interactions.flatMap((interaction) => {
		const isInRun = runs.some(
			({ session, at, end }) =>
				session === sessionOfRequest(interaction) && at < interaction.at && (end === null || end.at > interaction.at),
		);
		return isInRun ? [] : [`${interaction.type} ${interaction.id} is requested outside of a run`];
	});
}

/** A list that was requested when nothing moved has the sessions that are there, and says which of them run. */
function checkList({ method, at, atRest, response }: Sent, client: HostedActor): readonly string[] {
	if (method !== "session/list" || !atRest || response === null) return [];
	const result = isRecord(response.message["result"]) ? response.message["result"] : {};
	const listed = new Map<string, boolean>();
	for (const entry of Array.isArray(result["sessions"]) ? result["sessions"] : []) {
		if (!isRecord(entry)) continue;
		listed.set(String(entry["session_id"]), entry["state"] === "running" || entry["is_active"] === true);
	}
	const earlier = client.sent.filter((sent) => sent.at < at);
	const wasArchived = (id: string) =>
		earlier.some(
			(sent) => sent.method === "session/archive" && client.sessionOf(sent) === id && outcomeOf(sent) === "result",
		);
	const there = client.sessions.flatMap(({ sessionId, createId }) => {
		const isMade = earlier.some(({ id }) => id === createId);
		return isMade && sessionId !== null && !wasArchived(sessionId) ? [sessionId] : [];
	});
	/** Whether a run of the session was delivered: one that waits until fewer run has not begun, nor has its session been shown. */
	const hasBegun = (id: string) => client.events.some((event) => event.sessionId === id && event.at < at);
	const isShown = (id: string) =>
		hasBegun(id) ||
		client.sessions.some(
			({ sessionId, createId }) =>
				sessionId === id && client.sent.some((sent) => sent.id === createId && (sent.response?.at ?? Infinity) < at),
		);
	const faults = there.filter((id) => !listed.has(id) && isShown(id)).map((id) => `${id} is not in the list`);
	for (const [id, isRunning] of listed) {
		if (!there.includes(id)) faults.push(`${id} is in the list`);
		const runs = earlier.some(
			(sent) => promptOf(sent) !== null && client.sessionOf(sent) === id && (sent.response?.at ?? Infinity) > at,
		);
		if (runs !== isRunning && (isRunning || hasBegun(id)))
			faults.push(`${id} is listed as ${isRunning ? "running" : "idle"}`);
	}
	return faults;
}
