// Reads an answer through an adapter, as fast or as slowly as was drawn, and judges how it ended.
import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../../../src/base/clock.ts";
import type { ModelChunk } from "../../../src/core/models/model.ts";
import { createModel } from "../../../src/core/models/registry.ts";
import type { Network } from "../../../src/ports/network/network.ts";
import { plainRequest } from "../../support/models/model-conversation.ts";
import { plainModelSettings } from "../../support/models/model-settings.ts";
import type { Random } from "../random.ts";
import type { AnswerProtocol } from "./answers-protocols.ts";
import type { AnswerScript } from "./answers-script.ts";

export interface Manner {
	readonly name: "at once" | "slowly" | "with a pause" | "leaving" | "aborting";
	/** Chunks before a pause, an end or an abort; milliseconds before an abort. */
	readonly after: number;
	readonly milliseconds: number;
}

/** Where the answer is to be had, and whether anybody has asked for it. */
export interface Played {
	readonly url: string;
	isAsked(): boolean;
}

export interface Judgement {
	/** Null when it ended as it should. */
	readonly fault: string | null;
	/** How it ended. */
	readonly outcome: string;
}

/** Milliseconds that a server may be silent; enough for a machine with other things to do. */
const timeouts = { response: 1500, idle: 1500 };
/** Milliseconds after which a call that has not ended never will. */
const patience = 60_000;

export function drawManner(random: Random): Manner {
	return {
		name: random.pick(["at once", "at once", "slowly", "with a pause", "with a pause", "leaving", "aborting"]),
		after: random.pick([0, 0, 1, 2, 5]),
		milliseconds: random.below(40),
	};
}

/** Loads the adapter, which would take the first calls too long. */
export async function loadAdapter({ settings }: AnswerProtocol): Promise<void> {
	const model = await createModel({ ...plainModelSettings, ...settings, baseUrl: "" });
	await model.warmUp?.();
}

export async function readAnswer(
	{ settings }: AnswerProtocol,
	{ url, isAsked }: Played,
	network: Network,
	script: AnswerScript,
	manner: Manner,
): Promise<Judgement> {
	const model = await createModel({
		...plainModelSettings,
		...settings,
		baseUrl: url,
		network,
		timeouts,
		clock: systemClock,
	});
	const controller = new AbortController();
	const chunks: ModelChunk[] = [];
	let thrown: unknown = null;
	let hasEnded = false;
	const stop = new AbortController();
	const reading = (async () => {
		if (manner.name === "aborting") {
			pause(manner.milliseconds, null, { signal: stop.signal }).then(
				() => controller.abort(),
				() => {},
			);
		}
		for await (const chunk of model.stream(plainRequest, controller.signal)) {
			chunks.push(chunk);
			if (manner.name === "slowly") await pause(1 + (manner.milliseconds % 5));
			if (chunks.length <= manner.after) continue;
			if (manner.name === "leaving") break;
			if (manner.name === "with a pause" && chunks.length === manner.after + 1) await pause(manner.milliseconds);
		}
	})().then(
		() => {
			hasEnded = true;
		},
		(error: unknown) => {
			hasEnded = true;
			thrown = error;
		},
	);
	await Promise.race([reading, pause(patience, null, { signal: stop.signal }).catch(() => {})]);
	stop.abort();
	if (!hasEnded) controller.abort();
	const { aborted } = controller.signal;
	// A connection from before that its server closed just now: nobody was asked, and nothing can be expected.
	const played: AnswerScript = isAsked() ? script : { ...script, expected: "any" };
	const fault = hasEnded ? judge(chunks, thrown, played, manner, aborted) : "it has not ended";
	return { fault, outcome: outcomeOf(chunks, manner, aborted) };
}

function outcomeOf(chunks: readonly ModelChunk[], { name }: Manner, isAborted: boolean): string {
	const last = chunks.at(-1);
	if (last?.type === "done") return "done";
	if (last?.type === "failed") return `failed: ${last.failure.kind}`;
	return isAborted ? "aborted" : name;
}

function judge(
	chunks: readonly ModelChunk[],
	thrown: unknown,
	{ expected, texts }: AnswerScript,
	{ name }: Manner,
	isAborted: boolean,
): string | null {
	if (thrown !== null) return `it threw ${thrown instanceof Error ? thrown.stack : String(thrown)}`;
	const lasts = chunks.filter(({ type }) => type !== "parts");
	const last = chunks.at(-1);
	if (lasts.length > 1 || (lasts.length === 1 && last?.type === "parts")) return "it went on after its last chunk";
	if (last?.type === "failed" && last.failure.kind === "defect") return `a defect: ${last.failure.message}`;
	if (lasts.length === 0 && name !== "leaving" && !isAborted) return "it ended without a last chunk";
	if (expected === "any") return null;
	const said = chunks
		.flatMap((chunk) => (chunk.type === "parts" ? chunk.parts : []))
		.map((part) => (part.type === "text" ? part.text : `<${part.type}>`))
		.join("");
	const whole = texts.join("");
	if (!whole.startsWith(said))
		return `it said ${JSON.stringify(said.slice(-200))}, which is not the beginning of what was sent`;
	if (last?.type === "done" && said !== whole) return `it is done after ${said.length} of ${whole.length} characters`;
	// A machine that stands still looks like a server that is silent.
	if (expected === "cut" || last?.type !== "failed" || last.failure.kind === "timeout") return null;
	return `it failed, though nothing was wrong: ${last.failure.kind}, ${last.failure.message}`;
}
