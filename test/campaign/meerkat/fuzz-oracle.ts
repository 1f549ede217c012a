// What Meerkat RPC says about any line: written from its reference (meerkat-rpc §1, §2) and from docs/guides/meerkat.md, apart from
// the server's own code, so that the two can disagree.
import { readRequestLine } from "../frame/request-lines.ts";
import {
	fitsConfig,
	fitsCreate,
	fitsList,
	fitsPage,
	fitsTools,
	fitsTurn,
	hasNull,
	isObject,
	isText,
} from "./fuzz-params.ts";

/** Names of errors, in `error.data.code`, with their numbers in the first protocol and in the present contract. */
export const errorNumbers: Readonly<Record<string, readonly [number, number]>> = {
	PARSE_ERROR: [-32700, -32700],
	INVALID_REQUEST: [-32600, -32600],
	METHOD_NOT_FOUND: [-32601, -32601],
	INVALID_PARAMS: [-32602, -32602],
	INTERNAL_ERROR: [-32603, -32603],
	SESSION_NOT_FOUND: [-32000, -32001],
	SESSION_BUSY: [-32001, -32002],
	PROVIDER_ERROR: [-32002, -32010],
	REQUEST_CANCELLED: [-32603, -32005],
};

/** What is known of the connection between two batches, and what a batch has asked for so far. */
export interface OracleState {
	/** Sessions made here; false once they are archived. */
	readonly sessions: Map<string, boolean>;
	/** Whether the client asked for capabilities, which switches to the numbers of the contract. */
	isContract: boolean;
	/** Whether the configuration may name a model that nobody serves. */
	namesModel: boolean;
	/** Turns of this batch, by session: an interrupt or an archive after them may cancel them. */
	readonly turns: Map<string, Expected[]>;
}

export function createOracleState(): OracleState {
	return { sessions: new Map(), isContract: false, namesModel: false, turns: new Map() };
}

/** The one response that a line must bring about. */
export interface Expected {
	/** As JSON text, numbers digit for digit. */
	readonly id: string;
	/** Null for a line that is no request. */
	readonly method: string | null;
	/** `result`, or names of errors: any of them is right. */
	readonly outcomes: Set<string>;
	/** The session that the response must name; null when it need not. */
	readonly sessionId: string | null;
}

/** Every method of the dialect. */
export const methods = [
	"initialize",
	"capabilities/get",
	"tools/register",
	"session/create",
	"session/list",
	"session/read",
	"session/history",
	"session/archive",
	"turn/start",
	"turn/interrupt",
	"config/get",
	"config/set",
	"config/patch",
] as const;

/** Predicts one line and moves the state on; null for silence. */
export function predict(bytes: Uint8Array, state: OracleState): Expected | null {
	const line = readRequestLine(bytes, "notification");
	switch (line.kind) {
		case "silence":
		case "notification":
			return null;
		case "not-json":
			return refusal("null", "PARSE_ERROR");
		case "invalid":
			return refusal(line.id, "INVALID_REQUEST");
		case "request":
			return predictRequest(line.id, line.method, line.params, state);
	}
}

function refusal(id: string, name: string): Expected {
	return { id, method: null, outcomes: new Set([name]), sessionId: null };
}

function predictRequest(id: string, method: string, params: unknown, state: OracleState): Expected {
	const answer = (outcomes: readonly string[], sessionId: string | null = null): Expected => ({
		id,
		method,
		outcomes: new Set(outcomes),
		sessionId,
	});
	const unfit = answer(["INVALID_PARAMS"]);
	switch (method) {
		case "initialize":
		case "config/get":
			return answer(["result"]);
		case "session/list":
			return fitsList(params) ? answer(["result"]) : unfit;
		case "capabilities/get":
			state.isContract = true;
			return answer(["result"]);
		case "tools/register":
			return fitsTools(params) ? answer(["result"]) : hasNull(params) ? answer(["result", "INVALID_PARAMS"]) : unfit;
		case "config/set":
		case "config/patch": {
			const fits = fitsConfig(params, method === "config/set" ? "config" : "patch");
			if (fits !== "no") state.namesModel = true;
			if (fits === "maybe") return answer(["result", "INVALID_PARAMS"]);
			return fits === "yes" ? answer(["result"]) : unfit;
		}
		case "session/create": {
			if (!fitsCreate(params)) return unfit;
			const isUsual = (params["model"] ?? null) === null && (params["provider"] ?? null) === null;
			return answer(isUsual && !state.namesModel ? ["result"] : ["result", "PROVIDER_ERROR"]);
		}
		case "session/history":
			return fitsPage(params) ? (predictOnSession(method, params, state, answer) ?? unfit) : unfit;
		case "session/read":
		case "session/archive":
		case "turn/start":
		case "turn/interrupt":
			return predictOnSession(method, params, state, answer) ?? unfit;
		default:
			return answer(["METHOD_NOT_FOUND"]);
	}
}

/** Null when the params are of no use. */
function predictOnSession(
	method: string,
	params: unknown,
	state: OracleState,
	answer: (outcomes: readonly string[], sessionId: string) => Expected,
): Expected | null {
	if (!isObject(params) || !isText(params["session_id"])) return null;
	const id = toUuid(params["session_id"]);
	if (id === null || (method === "turn/start" && !fitsTurn(params, state.isContract))) return null;
	const isThere = state.sessions.get(id);
	// In the contract the history of an archived session is still read.
	if (method === "session/history" && isThere === false && state.isContract) return answer(["result"], id);
	if (isThere !== true) return answer(["SESSION_NOT_FOUND"], id);
	const turns = state.turns.get(id) ?? [];
	if (method === "turn/start") {
		// In the contract a turn waits for those before it.
		const mayBeBusy = turns.length > 0 && !state.isContract;
		const expected = answer(mayBeBusy ? ["result", "SESSION_BUSY"] : ["result"], id);
		state.turns.set(id, [...turns, expected]);
		return expected;
	}
	if (method === "turn/interrupt" || method === "session/archive")
		for (const turn of turns) turn.outcomes.add("REQUEST_CANCELLED");
	if (method === "session/archive") {
		state.sessions.set(id, false);
		// Those that waited have no session any more.
		if (state.isContract) for (const turn of turns) turn.outcomes.add("SESSION_NOT_FOUND");
	}
	return answer(["result"], id);
}

/** The id as the server spells it; null for what no lenient reader takes for a UUID. */
function toUuid(text: string): string | null {
	const inner = /^(?:urn:uuid:(.*)|\{(.*)\}|(.*))$/is.exec(text);
	const spelled = (inner?.[1] ?? inner?.[2] ?? inner?.[3] ?? "").toLowerCase();
	const isSpelled = /^[0-9a-f]{32}$/.test(spelled) || /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(spelled);
	if (!isSpelled) return null;
	return spelled.replaceAll("-", "").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
