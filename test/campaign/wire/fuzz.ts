// Kimi Wire and legacy in the fuzz campaign: a server in memory whose turns wait to be released, or the executable, with
// what the oracle says of it.
import { isRecord } from "../../../src/base/json.ts";
import type { ModelMove } from "../../support/models/campaign-model.ts";
import { type CampaignServer, createCampaignServer, nextTurn } from "../../support/sessions/campaign-server.ts";
import type { Classified, Expected, Fields, Found, FuzzConnection, LineTarget, Prediction } from "../frame/exchange.ts";
import { createPlace, removePlace, startExecutable, writeSettings } from "../frame/executable.ts";
import type { FuzzDialect, Where } from "../frame/fuzz.ts";
import { hostileLine } from "../frame/hostile-lines.ts";
import { wireLargeLines, wireVocabulary } from "./fuzz-lines.ts";
import { type OracleState, predict } from "./fuzz-oracle.ts";

export const wireFuzz: FuzzDialect = {
	openings: {
		kimi: '{"jsonrpc":"2.0","id":"o","method":"cancel"}',
		legacy: '{"jsonrpc":"2.0","id":"o","method":"interrupt"}',
		undecided: null,
	},
	line: hostileLine(wireVocabulary),
	largeLines: wireLargeLines,
	open,
};

async function open(where: Where): Promise<FuzzConnection> {
	if (where === "process") return new WireConnection(await openProcess(["--wire"], {}), null);
	const server = await createCampaignServer();
	return new WireConnection(openMemory(server), server);
}

function openMemory({ client, serving, session, close }: CampaignServer): LineTarget {
	const over = serving.ended.then(() => serving.finish());
	return {
		patience: 3000,
		write: async (bytes) => client.write(bytes),
		read: () => client.read(),
		rest: restInMemory,
		async close() {
			client.end();
			await over;
			await close();
			return session.turnId === null ? [] : ["the server does not come to its end"];
		},
	};
}

export async function restInMemory(): Promise<void> {
	for (let turn = 0; turn < 3; turn += 1) await nextTurn();
}

/** Answers that a scripted model has in store: more than it is asked for. */
const answers = Array.from({ length: 20_000 }, () => "text: fine");

/** The executable with these first arguments; `agentwire` is that table of the settings. */
export async function openProcess(argv: readonly string[], agentwire: object): Promise<LineTarget> {
	const place = await createPlace();
	const configFile = await writeSettings(place, "config", { scripted: answers }, agentwire);
	const running = startExecutable(place, [...argv, "--config-file", configFile]);
	return {
		patience: 15_000,
		write: running.write,
		read: running.read,
		rest: nextTurn,
		async close() {
			running.end();
			const timer = setTimeout(running.kill, 10_000);
			const end = await running.exited;
			clearTimeout(timer);
			await removePlace(place);
			return end === "0" ? [] : [`the process ended with ${end}: ${running.complaints().slice(0, 500)}`];
		},
	};
}

const question = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };

/** A step that puts a question to the person, where a client can, before the last one. */
const askingMoves: readonly ModelMove[] = [
	{ kind: "call", id: "ask", name: "AskUserQuestion", arguments: JSON.stringify({ questions: [question] }) },
	{ kind: "done", counted: true },
];

class WireConnection implements FuzzConnection {
	readonly target: LineTarget;
	readonly responseLimit = 1000;
	/** Null for the executable, whose turns end by themselves. */
	readonly #server: CampaignServer | null;
	readonly #state: OracleState = { dialect: "undecided", inTurn: false };
	/** Prompts of held turns, answered when they end. */
	#held: Expected[] = [];
	#answers = 0;

	constructor(target: LineTarget, server: CampaignServer | null) {
		this.target = target;
		this.#server = server;
	}

	predict(line: Buffer): Prediction {
		const verdict = predict(line, this.#state, this.#server !== null);
		const expected: Expected[] = [];
		if (verdict.kind === "reply") {
			const { id, outcome, after } = verdict;
			const response = toExpected(id, outcome);
			if (after === "turn") this.#held.push(response);
			else expected.push(response);
		}
		// A turn that ended with this line owes its response.
		if (!this.#state.inTurn) expected.push(...this.#held.splice(0));
		return { expected, rests: verdict.after === "rest" };
	}

	classify(message: Fields): Classified {
		const { method, id, params, error } = message;
		if (method === undefined) {
			const outcome = isRecord(error) ? `${String(error["code"])} ${String(error["message"])}` : "result";
			return { kind: "response", outcome, fault: null };
		}
		if (method !== "request" || typeof id !== "string" || !isRecord(params) || !isRecord(params["payload"])) {
			return { kind: "event", fault: null };
		}
		const answers = toAnswers(id, params["type"], params["payload"]["event"]);
		this.#answers += 1;
		const answer = answers[this.#answers % Math.max(1, answers.length)];
		return { kind: "request", answer: answer === undefined ? null : { jsonrpc: "2.0", id, ...answer } };
	}

	releaseTurns(): readonly Expected[] {
		if (!this.#state.inTurn) return [];
		this.#state.inTurn = false;
		this.#openGate();
		return this.#held.splice(0);
	}

	holdTurns(): void {
		this.#server?.gate.close();
	}

	probe(number: number) {
		return { id: `"probe-${number}"`, line: `{"jsonrpc":"2.0","id":"probe-${number}","method":"probe"}` };
	}

	/** A prompt that works, in the dialect that is spoken; Kimi Wire when there is none yet. */
	goodRequest() {
		this.#openGate();
		const params = { user_input: "Once more.", input: "Once more." };
		const method = this.#state.dialect === "legacy" ? "run" : "prompt";
		const fits = ({ message: { result } }: Found): boolean => isRecord(result) && result["status"] === "finished";
		return {
			line: JSON.stringify({ jsonrpc: "2.0", id: "good", method, params }),
			expected: { id: '"good"', what: "finished", fits },
		};
	}

	#openGate(): void {
		this.#server?.gate.open();
		this.#server?.gate.push(askingMoves);
	}
}

function toExpected(id: string | null, outcome: string): Expected {
	return { id: JSON.stringify(id), what: outcome, fits: (found) => outcome === "*" || found.outcome === outcome };
}

/** Answers to a question or a hook: a prompt is never blocked, so that its turn is there as the oracle says. */
function toAnswers(id: string, type: unknown, event: unknown): readonly object[] {
	const bad = [
		...[null, {}, [], { request_id: 1 }].map((result) => ({ result })),
		{ error: { code: -32000, message: "cannot" } },
		{ error: { code: "5", message: "" } },
	];
	const answered = (fields: object) => ({ result: { request_id: id, ...fields } });
	if (type === "QuestionRequest") {
		const answers: readonly unknown[] = [
			{},
			{ "Which way?": "Left" },
			{ "Which way?": ["Left"] },
			{ "": "" },
			[],
			null,
			"x",
		];
		return [...bad, ...answers.map((value) => answered({ answers: value }))];
	}
	if (type !== "HookRequest") return [];
	const allowing = [
		{},
		{ action: "allow" },
		{ action: "deny" },
		{ action: null },
		{ action: "block", reason: 1 },
		{ more: 1 },
	];
	const blocking = event === "UserPromptSubmit" ? [] : [{ action: "block" }, { action: "block", reason: "Go on." }];
	return [...bad, ...[...allowing, ...blocking].map(answered)];
}
