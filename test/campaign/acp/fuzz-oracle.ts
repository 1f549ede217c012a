// What the Agent Client Protocol says about any line: written from its specification and official schema, apart from the server's
// own code, so that the two can disagree. Codes that depend on what else happens at the time are all allowed; an internal error
// never is.
import { isRecord } from "../../../src/base/json.ts";
import { readRequestLine } from "../frame/request-lines.ts";
import { fitsAgent } from "./official-schema.ts";

export const methods = [
	"initialize",
	"authenticate",
	"logout",
	"session/new",
	"session/load",
	"session/resume",
	"session/list",
	"session/delete",
	"session/close",
	"session/fork",
	"session/prompt",
	"session/set_mode",
	"session/set_config_option",
	"_session/steering",
	"_session/rewind",
	"session/cancel",
	"$/cancel_request",
] as const;

const codes = {
	parseError: "-32700",
	invalidRequest: "-32600",
	methodNotFound: "-32601",
	invalidParams: "-32602",
	authRequired: "-32000",
	notFound: "-32002",
	cancelled: "-32800",
} as const;

export interface OracleState {
	/** Sessions that were made here and not deleted. */
	readonly sessions: Set<string>;
	/** Those that the client deleted. */
	readonly deleted: Set<string>;
	/** Those that were closed at any time: without a turn they are gone then. */
	readonly closed: Set<string>;
	/** What requests of the present batch do to others of it. */
	batch: Batch;
}

interface Batch {
	/** Sessions that are deleted or closed. */
	readonly ending: Set<string>;
	/** Sessions whose prompts are cancelled. */
	readonly cancelled: Set<string>;
	/** Whether requests may be withdrawn. */
	withdraws: boolean;
}

export const createBatch = (): Batch => ({ ending: new Set(), cancelled: new Set(), withdraws: false });

export function createOracleState(): OracleState {
	return { sessions: new Set(), deleted: new Set(), closed: new Set(), batch: createBatch() };
}

/** The one response that a line must bring about. */
export interface Expected {
	/** As JSON text, numbers digit for digit. */
	readonly id: string;
	/** Null for a line that is no request. */
	readonly method: string | null;
	/** `result`, or numbers of errors: any of them is right. Asked once everything came. */
	outcomes(): readonly string[];
}

/** Predicts one line and moves the state on; null for silence. */
export function predict(bytes: Uint8Array, state: OracleState): Expected | null {
	const line = readRequestLine(bytes, "refused");
	switch (line.kind) {
		case "silence":
			return null;
		case "notification":
			if (line.method === "$/cancel_request") state.batch.withdraws = true;
			if (line.method === "session/cancel" && isRecord(line.params))
				state.batch.cancelled.add(String(line.params["sessionId"]));
			return null;
		case "not-json":
			return { id: "null", method: null, outcomes: () => [codes.parseError] };
		case "invalid":
			return { id: line.id, method: null, outcomes: () => [codes.invalidRequest] };
		case "request":
			return { id: line.id, method: line.method, outcomes: predictRequest(line.method, line.params, state) };
	}
}

function predictRequest(method: string, params: unknown, state: OracleState): () => readonly string[] {
	const { batch } = state;
	const fits = fitsAgent(method, params);
	// What the schema refuses may be taken all the same, where its meaning is clear.
	const unfit = fits ? [] : [codes.invalidParams];
	const withdrawn = () => (batch.withdraws ? [codes.cancelled] : []);
	const sessionId = isRecord(params) ? params["sessionId"] : undefined;
	const isThere = typeof sessionId === "string" && state.sessions.has(sessionId);
	/** A session that is not there, or goes while the request is handled. */
	const missing = () => {
		if (!fits || [batch.ending, state.closed].some((ids) => ids.has(String(sessionId)))) return [codes.notFound];
		return isThere ? [] : [codes.notFound];
	};
	const onSession = (...more: readonly string[]) => {
		const there = isThere || !fits ? ["result"] : [];
		return () => [...there, ...unfit, ...missing(), ...more];
	};
	switch (method) {
		case "initialize":
			return () => (fits ? ["result"] : ["result", codes.invalidParams]);
		case "authenticate":
			return () => ["result", codes.invalidParams, codes.authRequired, ...withdrawn()];
		case "logout":
			return () => ["result", codes.invalidRequest, ...unfit];
		case "session/new":
			return () => ["result", codes.invalidParams];
		case "session/list":
			return () => ["result", codes.invalidParams];
		case "session/load":
		case "session/resume":
			return () => [...onSession(codes.invalidParams)(), ...withdrawn()];
		case "session/fork":
			// While a turn runs it is refused.
			return () => [...onSession(codes.invalidParams, codes.invalidRequest)(), ...withdrawn()];
		case "session/delete":
			if (typeof sessionId === "string") {
				batch.ending.add(sessionId);
				if (fits && state.sessions.delete(sessionId)) state.deleted.add(sessionId);
			}
			// A text that cannot be the id of a session may be refused.
			return () => ["result", ...unfit, ...(/^[\w-]{1,200}$/.test(String(sessionId)) ? [] : [codes.invalidParams])];
		case "session/close":
			if (typeof sessionId === "string") {
				batch.ending.add(sessionId);
				state.closed.add(sessionId);
			}
			return onSession(codes.invalidParams);
		case "session/prompt": {
			// What is cancelled before it begins need not find its session.
			const isCut = () => batch.withdraws || [batch.ending, batch.cancelled].some((ids) => ids.has(String(sessionId)));
			const expected = onSession(codes.invalidParams);
			return () => [...expected(), ...(isCut() ? ["result"] : []), ...withdrawn()];
		}
		case "session/set_mode":
		case "session/set_config_option":
			return onSession(codes.invalidParams, codes.invalidRequest);
		case "_session/steering":
			return () => ["result", codes.invalidParams, codes.notFound];
		case "_session/rewind":
			return onSession(codes.invalidParams, codes.invalidRequest);
		default:
			// Those that are only notifications do not exist as requests.
			return () => [codes.methodNotFound];
	}
}
