// Meerkat RPC in the fuzz campaign: a server of many sessions in memory, or `agentwire rpc`, with what the oracle says of it.
import { systemClock } from "../../../src/base/clock.ts";
import { isRecord } from "../../../src/base/json.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import { createGatedProvider } from "../../support/models/gated-provider.ts";
import { createHostedServer } from "../../support/sessions/hosted-server.ts";
import { createMemoryFiles } from "../../support/store/memory-files.ts";
import type { Classified, Fields, Found, FuzzConnection, LineTarget, Prediction } from "../frame/exchange.ts";
import type { FuzzDialect } from "../frame/fuzz.ts";
import { hostileLine } from "../frame/hostile-lines.ts";
import { openProcess, restInMemory } from "../wire/fuzz.ts";
import { meerkatLargeLines, meerkatVocabulary, withSessions } from "./fuzz-lines.ts";
import { createOracleState, type Expected, type OracleState, predict } from "./fuzz-oracle.ts";
import { isRight, outcomeOf, whatIsWrongWithEvent, whatIsWrongWithResponse } from "./fuzz-responses.ts";

/** Slots for every session that a batch can use at once: idle ones still have to be evicted. */
const agentwire = { limits: { loaded_sessions: 101, running_turns: 1000 } };

export const meerkatFuzz: FuzzDialect = {
	openings: { "many sessions": null },
	line: hostileLine(meerkatVocabulary),
	largeLines: meerkatLargeLines,
	open: async (where) =>
		new MeerkatConnection(where === "memory" ? await openMemory() : await openProcess(["rpc"], agentwire)),
};

async function openMemory(): Promise<LineTarget> {
	const files = createMemoryFiles();
	const { fetch } = createGatedProvider(true);
	const server = await createHostedServer({ files, store: createMemoryStore(), clock: systemClock, fetch, agentwire });
	return {
		patience: 5000,
		write: async (bytes) => server.client.write(bytes),
		read: () => server.client.read(),
		rest: restInMemory,
		async close() {
			server.client.end();
			await server.serving.ended;
			await server.serving.finish();
			await server.close();
			return (await server.client.read()) === null ? [] : ["something is sent after the end"];
		},
	};
}

class MeerkatConnection implements FuzzConnection {
	readonly target: LineTarget;
	readonly responseLimit = 2000;
	readonly #state: OracleState = createOracleState();
	/** Whether the client had asked for capabilities before the present exchange. */
	#wasContract = false;

	constructor(target: LineTarget) {
		this.target = target;
	}

	complete(line: Buffer): Buffer {
		return withSessions(line, this.#sessions());
	}

	/** Sessions that exist, the latest first. */
	#sessions(): readonly string[] {
		return [...this.#state.sessions].flatMap(([id, exists]) => (exists ? [id] : [])).reverse();
	}

	predict(line: Buffer): Prediction {
		const expected = predict(line, this.#state);
		return { expected: expected === null ? [] : [this.#expect(expected)], rests: false };
	}

	#expect(expected: Expected) {
		const wasContract = this.#wasContract;
		const { id, method, outcomes } = expected;
		return {
			id,
			what: `${method} ${[...outcomes].join(" or ")}`,
			fits: (found: Found) => isRight(expected, found, wasContract ? [1] : this.#state.isContract ? [0, 1] : [0]),
		};
	}

	classify(message: Fields): Classified {
		if ("method" in message) return { kind: "event", fault: whatIsWrongWithEvent(message) };
		return { kind: "response", outcome: outcomeOf(message), fault: whatIsWrongWithResponse(message) };
	}

	/** The list has to have the sessions that exist. */
	probe(number: number) {
		const line = `{"jsonrpc":"2.0","id":"probe-${number}","method":"session/list","params":{"limit":1000}}`;
		return { id: `"probe-${number}"`, line };
	}

	takeProbe({ message }: Found, found: readonly Found[]): readonly string[] {
		const { sessions } = this.#state;
		for (const { message: response } of found) {
			const { result } = response;
			if (!isRecord(result) || typeof result["session_id"] !== "string") continue;
			if (!sessions.has(result["session_id"])) sessions.set(result["session_id"], true);
		}
		this.#wasContract = this.#state.isContract;
		this.#state.turns.clear();
		const result = isRecord(message["result"]) ? message["result"] : {};
		const listed = (Array.isArray(result["sessions"]) ? result["sessions"] : []).map((entry: unknown) =>
			isRecord(entry) ? String(entry["session_id"]) : "",
		);
		const existing = this.#sessions();
		const isSame = listed.length === existing.length && existing.every((id) => listed.includes(id));
		return isSame ? [] : [`the list has ${listed.length} sessions, ${existing.length} exist`];
	}

	goodRequest() {
		const line = '{"jsonrpc":"2.0","id":"good","method":"session/create","params":{"prompt":"Once more.","model":"m"}}';
		const expected = predict(Buffer.from(line), this.#state);
		if (expected === null) throw new Error("a good request has no response");
		return { line, expected: this.#expect(expected) };
	}
}
