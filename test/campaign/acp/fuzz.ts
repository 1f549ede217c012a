// The Agent Client Protocol in the fuzz campaign: a server of many sessions in memory, or `agentwire acp`, with what the oracle
// says of it.
import { systemClock } from "../../../src/base/clock.ts";
import { isRecord } from "../../../src/base/json.ts";
import { acpDialect } from "../../../src/frontends/acp/dialect.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import { createGatedProvider } from "../../support/models/gated-provider.ts";
import { createHostedServer, hostedPlace } from "../../support/sessions/hosted-server.ts";
import { createMemoryFiles } from "../../support/store/memory-files.ts";
import type { Classified, Fields, Found, FuzzConnection, LineTarget, Prediction } from "../frame/exchange.ts";
import type { FuzzDialect } from "../frame/fuzz.ts";
import { hostileLine } from "../frame/hostile-lines.ts";
import { openProcess, restInMemory } from "../wire/fuzz.ts";
import { acpLargeLines, acpVocabulary, complete } from "./fuzz-lines.ts";
import { createBatch, createOracleState, type Expected, type OracleState, predict } from "./fuzz-oracle.ts";
import { whatIsWrongWithCall, whatIsWrongWithResponse } from "./official-schema.ts";

const agentwire = { limits: { loaded_sessions: 101, running_turns: 1000 } };

export const acpFuzz: FuzzDialect = {
	openings: {
		editor: '{"jsonrpc":"2.0","id":"o","method":"initialize","params":{"protocolVersion":1}}',
		unannounced: null,
	},
	line: hostileLine(acpVocabulary),
	largeLines: acpLargeLines,
	open: async (where) =>
		where === "memory"
			? new AcpConnection(await openMemory(), hostedPlace.workDir)
			: new AcpConnection(await openProcess(["acp"], agentwire), "/tmp"),
};

async function openMemory(): Promise<LineTarget> {
	const files = createMemoryFiles();
	const { fetch } = createGatedProvider(true);
	const server = await createHostedServer({
		...{ files, store: createMemoryStore(), clock: systemClock, fetch, agentwire, dialect: acpDialect },
	});
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
			while ((await server.client.read()) !== null) {
				// What was sent before the end may still come.
			}
			return [];
		},
	};
}

class AcpConnection implements FuzzConnection {
	readonly target: LineTarget;
	readonly responseLimit = 3000;
	readonly #cwd: string;
	readonly #state: OracleState = createOracleState();
	/** Sessions whose ids the client was sent. */
	readonly #known = new Set<string>();

	constructor(target: LineTarget, cwd: string) {
		this.target = target;
		this.#cwd = cwd;
	}

	complete(line: Buffer): Buffer {
		return complete(line, [...this.#state.sessions].reverse(), this.#cwd);
	}

	predict(line: Buffer): Prediction {
		const expected = predict(line, this.#state);
		return { expected: expected === null ? [] : [toExpected(expected)], rests: false };
	}

	classify(message: Fields): Classified {
		if ("method" in message) {
			const { id, params } = message;
			const about = isRecord(params) ? params["sessionId"] : undefined;
			const isEarly = typeof about === "string" && !this.#known.has(about);
			const fault = isEarly ? "a message about a session that the client does not know" : whatIsWrongWithCall(message);
			if (fault !== null || id === undefined) return { kind: "event", fault };
			return { kind: "request", answer: { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } } };
		}
		const { result, error } = message;
		if (isRecord(result) && typeof result["sessionId"] === "string") this.#known.add(result["sessionId"]);
		const outcome = isRecord(error) ? String(error["code"]) : "result";
		return { kind: "response", outcome, fault: whatIsWrongWithResponse(null, message) };
	}

	/** The list has no session that is deleted, and none that nobody made. */
	probe(number: number) {
		const line = `{"jsonrpc":"2.0","id":"probe-${number}","method":"session/list","params":{}}`;
		return { id: `"probe-${number}"`, line };
	}

	takeProbe({ message }: Found, found: readonly Found[]): readonly string[] {
		const { sessions, deleted } = this.#state;
		for (const { message: response } of found) {
			const { result } = response;
			if (isRecord(result) && typeof result["sessionId"] === "string") sessions.add(result["sessionId"]);
		}
		this.#state.batch = createBatch();
		const result = isRecord(message["result"]) ? message["result"] : {};
		const listed = (Array.isArray(result["sessions"]) ? result["sessions"] : []).map((entry: unknown) =>
			isRecord(entry) ? String(entry["sessionId"]) : "",
		);
		return listed.flatMap((id) => {
			if (deleted.has(id)) return [`${id} is listed, but deleted`];
			return sessions.has(id) ? [] : [`${id} is listed, but nobody made it`];
		});
	}

	goodRequest() {
		const params = { cwd: this.#cwd, mcpServers: [] };
		const line = JSON.stringify({ jsonrpc: "2.0", id: "good", method: "session/new", params });
		const expected: Expected = { id: '"good"', method: "session/new", outcomes: () => ["result"] };
		return { line, expected: toExpected(expected) };
	}
}

function toExpected({ id, method, outcomes }: Expected) {
	return {
		id,
		what: `${method} ${outcomes().join(" or ")}`,
		fits: ({ outcome, message }: Found) =>
			outcomes().includes(outcome) && whatIsWrongWithResponse(outcome === "result" ? method : null, message) === null,
	};
}
