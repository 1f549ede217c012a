// What must hold of every interleaving of Kimi Wire, checked on its transcript after the fact (wire-protocol §1.6, §2.1, §5,
// §11.1).
import { isRecord } from "../../../src/base/json.ts";
import type { Effect } from "../../support/sessions/campaign-tools.ts";
import type { Entry, Sent } from "../frame/actor.ts";
import type { Fields } from "../frame/life.ts";
import { findTurns, type PlacedFact, type TurnFact } from "../frame/turn-rules.ts";
import type { AnswerKind } from "./liveness-actions.ts";
import { eventOf, type ServerRequest, toolCallOf, type WireActor } from "./liveness-client.ts";

/** An effect and the length of the transcript when it began. */
export interface ObservedEffect extends Effect {
	readonly at: number;
}

/** A message of the server's and its place in the transcript. */
export interface Delivered {
	readonly at: number;
	readonly entry: Entry;
}

interface Outcome {
	readonly at: number;
	readonly message: Fields;
}

/**
 * Reads a transcript; `isComplete` says that the client read to the end, `storeFailed` that writes failed: then the turn ends
 * without the events that could not be persisted.
 */
export function findFaults(
	client: WireActor,
	effects: readonly ObservedEffect[],
	isComplete: boolean,
	storeFailed: boolean,
): { readonly delivered: readonly Delivered[]; readonly faults: readonly string[] } {
	const faults: string[] = [];
	const delivered = withoutReplays(client, faults);
	const facts = delivered.flatMap((each) => toFact(each, client, storeFailed) ?? []);
	faults.push(...findTurns(facts, isComplete).faults);
	checkSteps(delivered, faults);
	for (const sent of client.sent) checkState(client, sent, storeFailed, faults);
	if (isComplete && !storeFailed) checkOutcomes(client, faults);
	checkApprovals(client, delivered, isComplete && !storeFailed, faults);
	checkEffects(client, effects, faults);
	return { delivered, faults };
}

/** The server's messages without those that a replay sent again. */
function withoutReplays(client: WireActor, faults: string[]): readonly Delivered[] {
	const replays = new Set(client.sent.filter(({ method }) => method === "replay").map(({ id }) => id));
	const delivered: Delivered[] = [];
	const known = new Set<string>();
	const firsts = new Set<Delivered>();
	const switches = findSwitches(client);
	for (const [at, entry] of client.transcript.entries()) {
		if (entry.from !== "server") continue;
		const { id, result, method } = entry.message;
		if (method === undefined && typeof id === "string" && replays.has(id) && isRecord(result)) {
			let left = Number(result["events"]) + Number(result["requests"]);
			const sentAt = client.sent.find((sent) => sent.id === id)?.at ?? 0;
			let others =
				delivered.filter((one) => one.at > sentAt && one.entry.message["method"] !== undefined).length - left;
			for (let index = delivered.length - 1; index >= 0 && left > 0; index -= 1) {
				const earlier = delivered[index];
				if (earlier === undefined || earlier.entry.message["method"] === undefined) continue;
				// What belongs to no turn may come amid a replay.
				if (switches.has(earlier.at) && others > 0) {
					others -= 1;
					continue;
				}
				if (others > 0 && firsts.has(earlier)) {
					others -= 1;
					continue;
				}
				if (firsts.has(earlier)) known.delete(keyOf(earlier));
				delivered.splice(index, 1);
				left -= 1;
			}
			if (left > 0) faults.push(`${id} counts more than it sent`);
		}
		const each = { at, entry };
		delivered.push(each);
		// What is sent of a side question may come amid a replay: the first time it is no replay.
		const key = keyOf(each);
		if (key === "") continue;
		if (!known.has(key)) firsts.add(each);
		known.add(key);
	}
	return delivered;
}

/** Which event of which side question it is; empty for anything else. */
function keyOf({ entry }: Delivered): string {
	const { type, payload } = eventOf(entry.message);
	return isOfAside(type, payload) ? `${type} ${String(payload["id"])}` : "";
}

/** A side question's events, among them that it waits for its model. */
function isOfAside(type: string, payload: Fields): boolean {
	return ["BtwBegin", "BtwEnd"].includes(type) || (type === "Notification" && payload["type"] === "model.retrying");
}

/** Where a switch of plan mode was delivered: last before the answer to the switch. */
function findSwitches({ transcript, sent, endsAt }: WireActor): ReadonlySet<number> {
	const found = new Set<number>();
	for (const { method, at: sentAt, response } of sent) {
		if (method !== "set_plan_mode" || response === null || !isRecord(response.message["result"])) continue;
		// At the end of the input a switch may be answered without its event: only what is right before counts.
		const first = response.at > endsAt ? response.at - 1 : sentAt + 1;
		for (let at = response.at - 1; at >= first; at -= 1) {
			const entry = transcript[at];
			if (entry === undefined || entry.from !== "server" || found.has(at)) continue;
			const { type, payload } = eventOf(entry.message);
			if (!isPlanModeStatus(type, payload)) continue;
			found.add(at);
			break;
		}
	}
	return found;
}

const busyMessages: ReadonlySet<string> = new Set(["An agent turn is already in progress", "The session is closing."]);

function isRefusal(message: Fields): boolean {
	const { error } = message;
	return isRecord(error) && error["code"] === -32000 && busyMessages.has(String(error["message"]));
}

/** What a message means for turns; undefined for one that has nothing to do with them. */
function toFact({ at, entry }: Delivered, client: WireActor, storeFailed: boolean): PlacedFact<never> | undefined {
	const place = (fact: TurnFact): PlacedFact<never> => ({ session: "", at, fact, content: null });
	const { message } = entry;
	if (message["method"] === undefined) {
		const sent = client.sent.find(({ id }) => id === message["id"]);
		if (sent === undefined || !hasTurn(client, sent) || isRefusal(message)) return undefined;
		// Of a turn that could not be begun the error alone is delivered.
		return place({ kind: "answered", mayLackTurn: storeFailed && isRecord(message["error"]) });
	}
	const { type, payload } = eventOf(message);
	if (type === "TurnBegin") return place({ kind: "begin", name: "", mayNest: payload["user_input"] === "/init" });
	if (type === "TurnEnd") return place({ kind: "end", what: type });
	return isOutsideTurns(type, payload) ? undefined : place({ kind: "inside", what: type });
}

/** Steps count up, and a compaction is closed within its turn. */
function checkSteps(delivered: readonly Delivered[], faults: string[]): void {
	let isCompacting = false;
	let step = 0;
	let isSteered = false;
	for (const { at, entry } of delivered) {
		const { type, payload } = eventOf(entry.message);
		if (type === "TurnBegin" || type === "TurnEnd") step = 0;
		if (type === "TurnEnd" && isCompacting) faults.push(`TurnEnd at ${at} while the context is being compacted`);
		if (type === "CompactionBegin" || type === "CompactionEnd") {
			if (isCompacting === (type === "CompactionBegin")) faults.push(`${type} at ${at} is out of place`);
			isCompacting = type === "CompactionBegin";
		}
		// The steps after Stop hooks, and after what was steered when the last one was over, count from 1 again.
		if (type === "HookResolved" && payload["event"] === "Stop") step = 0;
		if (type === "SteerInput") isSteered = true;
		if (type === "StepBegin") {
			step = isSteered && payload["n"] === 1 ? 1 : step + 1;
			isSteered = false;
			if (payload["n"] !== step) faults.push(`StepBegin ${String(payload["n"])} at ${at} should be ${step}`);
		}
	}
}

/** Whether it requests a turn: a side question does when none runs. */
function hasTurn(client: WireActor, sent: Sent): boolean {
	return sent.method === "prompt" || client.hasTurn(sent);
}

/** What belongs to no turn, or comes before its beginning (wire-protocol §2.5, §4.12). */
function isOutsideTurns(type: string, payload: Fields): boolean {
	if (isOfAside(type, payload)) return true;
	if (["HookTriggered", "HookRequest", "HookResolved"].includes(type)) return payload["event"] === "UserPromptSubmit";
	return isPlanModeStatus(type, payload);
}

function isPlanModeStatus(type: string, payload: Fields): boolean {
	if (type !== "StatusUpdate") return false;
	return Object.entries(payload).every(([key, value]) => (key === "plan_mode") === (value !== null));
}

type Verdict = "result" | "busy" | "no-turn" | "other-error";

function verdict(message: Fields): Verdict {
	if ("result" in message) return "result";
	const { error } = message;
	if (!isRecord(error)) return "other-error";
	switch (error["message"]) {
		case "An agent turn is already in progress":
			return "busy";
		case "No agent turn is in progress":
			return "no-turn";
		default:
			return "other-error";
	}
}

/** The state table (wire-protocol §2.1), where the state is certain: [idle, in a turn]. A prompt's end is checked apart. */
const stateTable: Readonly<Record<string, readonly [Verdict, Verdict]>> = {
	initialize: ["result", "busy"],
	replay: ["result", "busy"],
	steer: ["no-turn", "result"],
	cancel: ["no-turn", "result"],
	set_plan_mode: ["result", "result"],
};

function checkState(client: WireActor, sent: Sent, storeFailed: boolean, faults: string[]): void {
	const { response } = sent;
	if (response === null) return;
	const inTurn = client.wasInTurn(sent);
	const found = verdict(response.message);
	// What cannot be stored is neither switched nor steered.
	if (storeFailed && (sent.method === "set_plan_mode" || sent.method === "steer") && found === "other-error") return;
	const cells = stateTable[sent.method];
	if (sent.method === "aside") {
		// Only as a turn it can fail, or fail to begin.
		const mayFail = client.hasTurn(sent) || storeFailed || isRefusal(response.message);
		if (found === "busy" || found === "no-turn" || (found === "other-error" && !mayFail)) {
			faults.push(`${sent.id} is answered ${found}`);
		}
		return;
	}
	if (cells === undefined) {
		if (sent.atRest && (found === "busy") !== inTurn) faults.push(`${sent.id} is answered ${found}`);
		if (found === "no-turn") faults.push(`${sent.id} is answered ${found}`);
		return;
	}
	// After the last step nothing more is taken in, though hooks may keep the turn open.
	const isClosing = sent.method === "steer" && runsTrailingHooks(client, sent.at);
	const allowed = sent.atRest && !isClosing ? [cells[inTurn ? 1 : 0]] : cells;
	if (!allowed.includes(found)) faults.push(`${sent.id} is answered ${found} instead of ${allowed.join(" or ")}`);
	if (sent.method !== "cancel" || !sent.atRest || found !== "result") return;
	const early = client.transcript
		.slice(sent.at, response.at)
		.find(({ from, message }) => from === "server" && ["TurnEnd", "ApprovalResponse"].includes(eventOf(message).type));
	if (early !== undefined) faults.push(`what ${sent.id} causes precedes its answer`);
}

const trailingHooks: ReadonlySet<unknown> = new Set(["Stop", "StopFailure", "PostToolUse", "PostToolUseFailure"]);

/** Whether hooks that can outlast the last step were begun in the turn that runs at this place. */
function runsTrailingHooks({ transcript }: WireActor, at: number): boolean {
	const events = transcript.slice(0, at).map(({ message }) => eventOf(message));
	const turn = events.slice(events.findLastIndex(({ type }) => type === "TurnBegin") + 1);
	return turn.some(({ type, payload }) => type === "HookTriggered" && trailingHooks.has(payload["event"]));
}

/** A cancel at rest ends its turn as cancelled; what is steered into turns that finish is consumed. */
function checkOutcomes(client: WireActor, faults: string[]): void {
	const statusOf = ({ response }: Sent): unknown => {
		const result = response?.message["result"];
		return isRecord(result) ? result["status"] : undefined;
	};
	const prompts = client.sent.filter(
		(sent) => hasTurn(client, sent) && sent.response !== null && !isRefusal(sent.response.message),
	);
	for (const sent of client.sent) {
		const { id, method, at, atRest } = sent;
		if (method !== "cancel" || !atRest || !client.wasInTurn(sent)) continue;
		const running = prompts.find((prompt) => prompt.at < at && (prompt.response?.at ?? 0) > at);
		const status = running === undefined ? "cancelled" : statusOf(running);
		// What failed is not cancelled while its hooks run.
		if (status === undefined && runsTrailingHooks(client, at)) continue;
		if (status !== "cancelled") faults.push(`${id} did not cancel: the turn is ${String(status)}`);
	}
	if (!prompts.every((prompt) => statusOf(prompt) === "finished")) return;
	const steered = client.sent.filter((sent) => sent.method === "steer" && statusOf(sent) === "steered").length;
	const consumed = client.transcript.filter(
		({ from, message }) => from === "server" && eventOf(message).type === "SteerInput",
	);
	const replayed = client.sent.some(({ method }) => method === "replay");
	// What is steered into a turn whose prompt a hook blocks is lost with it.
	const isBlocked = isDelivered(client, "UserPromptSubmit", "block");
	if (!replayed && !isBlocked && consumed.length !== steered)
		faults.push(`${steered} steered, ${consumed.length} consumed`);
}

/** Whether a hook of this event was decided, and so. */
function isDelivered({ transcript }: WireActor, event: string, action: string | null = null): boolean {
	return transcript.some(({ from, message }) => {
		const { type, payload } = eventOf(message);
		if (from !== "server" || type !== "HookResolved" || payload["event"] !== event) return false;
		return action === null || payload["action"] === action;
	});
}

const decisions: Readonly<Partial<Record<AnswerKind, string>>> = {
	approve: "approve",
	event: "approve",
	"approve-for-session": "approve_for_session",
};

/** One ApprovalResponse per ApprovalRequest, and it says what was answered first. */
function checkApprovals(
	client: WireActor,
	delivered: readonly Delivered[],
	isComplete: boolean,
	faults: string[],
): void {
	const requests = client.interactions.filter(({ type }) => type === "ApprovalRequest");
	const resolutions = new Map<string, Outcome>();
	for (const { at, entry } of delivered) {
		const { type, payload } = eventOf(entry.message);
		if (type !== "ApprovalResponse") continue;
		const id = String(payload["request_id"]);
		if (!requests.some((request) => request.id === id && request.at < at)) faults.push(`${id} settled before asked`);
		if (resolutions.has(id)) faults.push(`${id} settled twice`);
		resolutions.set(id, { at, message: payload });
	}
	for (const { id, answer } of requests) {
		const resolution = resolutions.get(id);
		if (resolution === undefined) {
			if (isComplete) faults.push(`${id} never settled`);
		} else if (answer?.atRest === true && answer.at < resolution.at) {
			const expected = decisions[answer.how] ?? "reject";
			const found = resolution.message["response"];
			if (found !== expected) faults.push(`${id} answered ${answer.how}, but settled as ${String(found)}`);
		}
	}
}

/** Every effect needs an approval of its own, given before it began; one for the session covers the later ones. */
function checkEffects(client: WireActor, effects: readonly ObservedEffect[], faults: string[]): void {
	const used = new Set<ServerRequest>();
	const isOfAgent = ({ params }: ServerRequest) => params["agent_id"] !== null;
	const approvals = client.interactions.filter(
		({ type, answer }) => type === "ApprovalRequest" && answer !== null && decisions[answer.how] !== undefined,
	);
	for (const { at, toolCallId, action, isInside } of effects) {
		const given = approvals.filter(({ answer }) => answer !== null && answer.at < at);
		const own = given.find(
			(request) => !used.has(request) && toolCallOf(request) === toolCallId && isOfAgent(request) === isInside,
		);
		if (own !== undefined) used.add(own);
		else if (
			!given.some(
				(request) => String(request.params["action"]) === action && request.answer?.how === "approve-for-session",
			)
		) {
			faults.push(`the effect of ${toolCallId} (${action}) was not approved`);
		}
	}
}
