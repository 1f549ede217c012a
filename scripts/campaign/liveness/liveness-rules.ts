// What must hold of every interleaving, checked on its transcript after the fact (wire-protocol §1.6, §2.1, §5, §11.1).
import { isRecord } from "../../../src/base/json.ts";
import type { Effect } from "../../../test/support/campaign-tools.ts";
import type { AnswerKind } from "./liveness-actions.ts";
import { eventOf, inputEnds, type LivenessClient, type Sent, type ServerRequest } from "./liveness-client.ts";
import type { Entry } from "./liveness-witness.ts";

/** An effect and the length of the transcript when it began. */
export interface ObservedEffect extends Effect {
	readonly at: number;
}

type Message = Readonly<Record<string, unknown>>;

/** A message of the server's and its place in the transcript. */
export interface Delivered {
	readonly at: number;
	readonly entry: Entry;
}

interface Outcome {
	readonly at: number;
	readonly message: Message;
}

/**
 * Reads a transcript; `isComplete` says that the client read to the end, `storeFailed` that writes failed: then the
 * turn ends without telling what could not be kept.
 */
export function findFaults(
	client: LivenessClient,
	effects: readonly ObservedEffect[],
	isComplete: boolean,
	storeFailed: boolean,
): { readonly delivered: readonly Delivered[]; readonly faults: readonly string[] } {
	const faults: string[] = [];
	const responses = checkResponses(client, isComplete, faults);
	const delivered = withoutReplays(client, faults);
	checkTurns(client, delivered, isComplete, storeFailed, faults);
	checkStates(client, responses, storeFailed, faults);
	if (isComplete && !storeFailed) checkOutcomes(client, responses, faults);
	checkApprovals(client, delivered, isComplete && !storeFailed, faults);
	checkEffects(client, effects, faults);
	return { delivered, faults };
}

/** One response per request; none for anything else, but for lines that were no messages. */
function checkResponses(client: LivenessClient, isComplete: boolean, faults: string[]): ReadonlyMap<string, Outcome> {
	const responses = new Map<string, Outcome>();
	const ids = new Set(client.sent.map(({ id }) => id));
	for (const [at, { from, message }] of client.transcript.entries()) {
		if (from !== "server" || "method" in message) continue;
		const { id } = message;
		if (id === null) {
			const { error } = message;
			if (!isRecord(error) || error["code"] !== -32600) faults.push(`an unexpected reply without id at ${at}`);
		} else if (typeof id !== "string" || !ids.has(id)) faults.push(`a response to nothing at ${at}`);
		else if (responses.has(id)) faults.push(`a second response to ${id}`);
		else responses.set(id, { at, message });
	}
	for (const { id } of client.sent) {
		if (isComplete && !responses.has(id)) faults.push(`no response to ${id}`);
	}
	return responses;
}

/** The server's messages without those that a replay sent again. */
function withoutReplays(client: LivenessClient, faults: string[]): readonly Delivered[] {
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
		// What is told of a question beside the conversation may come amid a replay: the first time it is no replay.
		const key = keyOf(each);
		if (key === "") continue;
		if (!known.has(key)) firsts.add(each);
		known.add(key);
	}
	return delivered;
}

/** Which event of which question beside the conversation it is; empty for anything else. */
function keyOf({ entry }: Delivered): string {
	const { type, payload } = eventOf(entry.message);
	return type === "BtwBegin" || type === "BtwEnd" ? `${type} ${String(payload["id"])}` : "";
}

/** Where plan mode was told to be switched: last before the answer to the switch. */
function findSwitches({ transcript, sent }: LivenessClient): ReadonlySet<number> {
	const found = new Set<number>();
	// At the end of the input a switch may be answered without being told any more: only what is right before counts.
	const end = transcript.findIndex(({ from, text }) => from === "note" && text === inputEnds);
	const switchOf = (id: unknown) => sent.find((one) => one.method === "set_plan_mode" && one.id === id);
	for (const [answeredAt, { from, message }] of transcript.entries()) {
		const request = from === "server" ? switchOf(message["id"]) : undefined;
		if (request === undefined || !isRecord(message["result"])) continue;
		const first = end !== -1 && answeredAt > end ? answeredAt - 1 : request.at + 1;
		for (let at = answeredAt - 1; at >= first; at -= 1) {
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

function isRefusal(message: Message): boolean {
	const { error } = message;
	return isRecord(error) && error["code"] === -32000 && busyMessages.has(String(error["message"]));
}

/** Turns open and close in pairs before their response, steps count up, and nothing is told between turns. */
function checkTurns(
	client: LivenessClient,
	delivered: readonly Delivered[],
	isComplete: boolean,
	storeFailed: boolean,
	faults: string[],
): void {
	const prompts = new Set(client.sent.filter((sent) => hasTurn(client, sent)).map(({ id }) => id));
	/** The turn, and the turn within it that `/init` runs. */
	let depth = 0;
	let mayNest = false;
	let isCompacting = false;
	let ended = 0;
	let answered = 0;
	let step = 0;
	let isSteered = false;
	for (const { at, entry } of delivered) {
		const { message } = entry;
		if (message["method"] === undefined) {
			if (!prompts.has(String(message["id"])) || isRefusal(message)) continue;
			// Of a turn that could not be begun the error alone is told.
			if (storeFailed && answered === ended && isRecord(message["error"])) continue;
			answered += 1;
			if (depth > 0) faults.push(`the prompt is answered at ${at} while its turn is open`);
			if (answered > ended) faults.push(`the prompt is answered at ${at} without a turn`);
			continue;
		}
		const { type, payload } = eventOf(message);
		if (type === "TurnBegin") {
			if (depth > (mayNest ? 1 : 0)) faults.push(`a TurnBegin too many at ${at}`);
			if (depth === 0) mayNest = payload["user_input"] === "/init";
			depth += 1;
			step = 0;
			continue;
		}
		if (depth === 0 && !isOutsideTurns(type, payload)) faults.push(`${type} outside a turn at ${at}`);
		if (type === "TurnEnd") {
			depth -= 1;
			step = 0;
			if (depth === 0) ended += 1;
			if (isCompacting) faults.push(`TurnEnd at ${at} while the context is being compacted`);
		}
		if (type === "CompactionBegin" || type === "CompactionEnd") {
			if (isCompacting === (type === "CompactionBegin")) faults.push(`${type} at ${at} is out of place`);
			isCompacting = type === "CompactionBegin";
		}
		// The steps behind Stop hooks, and behind what was steered when the last one was over, count from 1 again.
		if (type === "HookResolved" && payload["event"] === "Stop") step = 0;
		if (type === "SteerInput") isSteered = true;
		if (type === "StepBegin") {
			step = isSteered && payload["n"] === 1 ? 1 : step + 1;
			isSteered = false;
			if (payload["n"] !== step) faults.push(`StepBegin ${String(payload["n"])} at ${at} should be ${step}`);
		}
	}
	if (isComplete && depth > 0) faults.push("a turn has no TurnEnd");
	if (isComplete && ended !== answered) faults.push(`${ended} turns, but ${answered} prompts answered`);
}

/** Whether it asks for a turn: a question beside the conversation does when none runs. */
function hasTurn(client: LivenessClient, sent: Sent): boolean {
	return sent.method === "prompt" || client.hasTurn(sent);
}

/** What belongs to no turn, or comes before its beginning (wire-protocol §2.5, §4.12). */
function isOutsideTurns(type: string, payload: Message): boolean {
	if (type === "BtwBegin" || type === "BtwEnd") return true;
	if (["HookTriggered", "HookRequest", "HookResolved"].includes(type)) return payload["event"] === "UserPromptSubmit";
	return isPlanModeStatus(type, payload);
}

function isPlanModeStatus(type: string, payload: Message): boolean {
	if (type !== "StatusUpdate") return false;
	return Object.entries(payload).every(([key, value]) => (key === "plan_mode") === (value !== null));
}

type Verdict = "result" | "busy" | "no-turn" | "other-error";

function verdict(message: Message): Verdict {
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

function checkStates(
	client: LivenessClient,
	responses: ReadonlyMap<string, Outcome>,
	storeFailed: boolean,
	faults: string[],
): void {
	for (const sent of client.sent) {
		const response = responses.get(sent.id);
		if (response === undefined) continue;
		// What cannot be kept is not switched.
		if (storeFailed && sent.method === "set_plan_mode" && verdict(response.message) === "other-error") continue;
		checkState(client, sent, response, storeFailed, faults);
	}
}

function checkState(
	client: LivenessClient,
	sent: Sent,
	response: Outcome,
	storeFailed: boolean,
	faults: string[],
): void {
	const found = verdict(response.message);
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
		if (sent.atRest && (found === "busy") !== sent.inTurn) faults.push(`${sent.id} is answered ${found}`);
		if (found === "no-turn") faults.push(`${sent.id} is answered ${found}`);
		return;
	}
	// Behind the last step nothing more is taken in, though hooks may keep the turn open.
	const isClosing = sent.method === "steer" && runsTrailingHooks(client, sent.at);
	const allowed = sent.atRest && !isClosing ? [cells[sent.inTurn ? 1 : 0]] : cells;
	if (!allowed.includes(found)) faults.push(`${sent.id} is answered ${found} instead of ${allowed.join(" or ")}`);
	if (sent.method !== "cancel" || !sent.atRest || found !== "result") return;
	const early = client.transcript
		.slice(sent.at, response.at)
		.find(({ from, message }) => from === "server" && ["TurnEnd", "ApprovalResponse"].includes(eventOf(message).type));
	if (early !== undefined) faults.push(`what ${sent.id} causes precedes its answer`);
}

const trailingHooks: ReadonlySet<unknown> = new Set(["Stop", "StopFailure", "PostToolUse", "PostToolUseFailure"]);

/** Whether hooks that can outlast the last step were begun in the turn that runs at this place. */
function runsTrailingHooks({ transcript }: LivenessClient, at: number): boolean {
	const events = transcript.slice(0, at).map(({ message }) => eventOf(message));
	const turn = events.slice(events.findLastIndex(({ type }) => type === "TurnBegin") + 1);
	return turn.some(({ type, payload }) => type === "HookTriggered" && trailingHooks.has(payload["event"]));
}

/** A cancel at rest ends its turn as cancelled; what is steered into turns that finish is consumed. */
function checkOutcomes(client: LivenessClient, responses: ReadonlyMap<string, Outcome>, faults: string[]): void {
	const statusOf = (id: string): unknown => {
		const result = responses.get(id)?.message["result"];
		return isRecord(result) ? result["status"] : undefined;
	};
	const prompts = client.sent.filter((sent) => {
		const response = responses.get(sent.id);
		return hasTurn(client, sent) && response !== undefined && !isRefusal(response.message);
	});
	for (const { id, method, at, atRest, inTurn } of client.sent) {
		if (method !== "cancel" || !atRest || !inTurn) continue;
		const running = prompts.find((prompt) => prompt.at < at && (responses.get(prompt.id)?.at ?? 0) > at);
		const status = running === undefined ? "cancelled" : statusOf(running.id);
		// What failed is not cancelled while its hooks run.
		if (status === undefined && runsTrailingHooks(client, at)) continue;
		if (status !== "cancelled") faults.push(`${id} did not cancel: the turn is ${String(status)}`);
	}
	if (!prompts.every(({ id }) => statusOf(id) === "finished")) return;
	const steered = client.sent.filter(({ id, method }) => method === "steer" && statusOf(id) === "steered").length;
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
function isDelivered({ transcript }: LivenessClient, event: string, action: string | null = null): boolean {
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
	client: LivenessClient,
	delivered: readonly Delivered[],
	isComplete: boolean,
	faults: string[],
): void {
	const requests = client.requests.filter(({ type }) => type === "ApprovalRequest");
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
function checkEffects(client: LivenessClient, effects: readonly ObservedEffect[], faults: string[]): void {
	const used = new Set<ServerRequest>();
	const isOfAgent = ({ payload }: ServerRequest) => payload["agent_id"] !== null;
	const approvals = client.requests.filter(
		({ type, answer }) => type === "ApprovalRequest" && answer !== null && decisions[answer.how] !== undefined,
	);
	for (const { at, toolCallId, action, isInside } of effects) {
		const given = approvals.filter(({ answer }) => answer !== null && answer.at < at);
		const own = given.find(
			(request) => !used.has(request) && request.toolCallId === toolCallId && isOfAgent(request) === isInside,
		);
		if (own !== undefined) used.add(own);
		else if (!given.some((request) => request.action === action && request.answer?.how === "approve-for-session")) {
			faults.push(`the effect of ${toolCallId} (${action}) was not approved`);
		}
	}
}
