// What makes a mark of a transcript true, for every kind of mark: a proof for each cell of some, and a rule over the
// course of the conversation for the others.
import { errorNumbers as meerkatErrors } from "../../../../src/frontends/meerkat/errors.ts";
import type { Cover, Transcript } from "../../../../src/testing/transcripts/format.ts";
import { acpCalls, acpUpdates } from "./acp-course.ts";
import { acpOutcomeProofs } from "./acp-outcomes.ts";
import { acpScenarioProofs } from "./acp-scenarios.ts";
import { choiceProofs, olderProofs } from "./choices.ts";
import { commandScenarioProofs } from "./command-scenarios.ts";
import { courseOf, type DeliveredLine, type SentLine, type State } from "./course.ts";
import { edgeProofs } from "./edges.ts";
import { endScenarioProofs } from "./end-scenarios.ts";
import { helperScenarioProofs } from "./helper-scenarios.ts";
import { hookScenarioProofs } from "./hook-scenarios.ts";
import { parseProof } from "./language.ts";
import { legacyOutcomeProofs, legacyScenarioProofs, legacySilenceProofs } from "./legacy.ts";
import { meerkatScenarioProofs } from "./meerkat.ts";
import { modeScenarioProofs } from "./mode-scenarios.ts";
import { outcomeProofs } from "./outcomes.ts";
import { isProven } from "./search.ts";
import { turnScenarioProofs } from "./turn-scenarios.ts";

/** The cells that have a proof each, by their kind. */
export const proofs = {
	edge: edgeProofs,
	outcome: outcomeProofs,
	scenario: {
		...turnScenarioProofs,
		...endScenarioProofs,
		...modeScenarioProofs,
		...hookScenarioProofs,
		...helperScenarioProofs,
		...commandScenarioProofs,
	},
	choice: choiceProofs,
	older: olderProofs,
	"legacy-scenario": legacyScenarioProofs,
	"legacy-outcome": legacyOutcomeProofs,
	"legacy-silence": legacySilenceProofs,
	"meerkat-scenario": meerkatScenarioProofs,
	"acp-outcome": acpOutcomeProofs,
	"acp-scenario": acpScenarioProofs,
} satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

type ProvenKind = keyof typeof proofs;
type Rule = (transcript: Transcript, cell: string) => boolean;

const byProof =
	(kind: ProvenKind): Rule =>
	(transcript, cell) => {
		const table: Readonly<Record<string, string>> = proofs[kind];
		const proof = table[cell];
		return proof !== undefined && isProven(transcript, parseProof(proof));
	};

/** Whether a request with this text is sent, and its answer comes later. */
function isAnswered(
	{ conversations }: Transcript,
	text: string,
	idMember: string,
	toAnswer: (id: string) => string,
): boolean {
	return conversations.some((moves) =>
		moves.some((move, index) => {
			if (move.kind !== "send" || !move.bytes.includes(text)) return false;
			const id = new RegExp(`"${idMember}":("[^"]*"|\\d+)`).exec(move.bytes)?.[1];
			const later = moves.slice(index).flatMap((next) => {
				if (next.kind === "receive") return [next.text];
				return next.kind === "unordered" ? next.chains.flat() : [];
			});
			return id !== undefined && later.some((line) => line.includes(toAnswer(id)));
		}),
	);
}

/** Whether a line with the first text is sent, and the server says one that begins with the second later. */
function isFollowed({ conversations }: Transcript, text: string, beginning: string): boolean {
	return conversations.some((moves) => {
		const at = moves.findIndex((move) => move.kind === "send" && move.bytes.includes(text));
		return at !== -1 && moves.slice(at).some((move) => move.kind === "receive" && move.text.startsWith(beginning));
	});
}

/** By the kind of mark; a mark of any other kind is false. */
const rules = {
	"claude-control": (transcript, cell) =>
		isAnswered(transcript, `"subtype":"${cell}"`, "request_id", (id) => `","request_id":${id},`),
	"gateway-method": (transcript, cell) =>
		isAnswered(transcript, `"method":"${cell}"`, "id", (id) => `{"jsonrpc":"2.0","id":${id},`),
	"codex-method": (transcript, cell) =>
		cell === "initialized"
			? isFollowed(transcript, `"method":"initialized"`, '{"id":')
			: isAnswered(transcript, `"method":"${cell}"`, "id", (id) => `{"id":${id},`),
	"codex-exec-event": ({ conversations }, cell) =>
		conversations.flat().some((move) => move.kind === "receive" && /^{"type":"([^"]+)"/.exec(move.text)?.[1] === cell),
	edge: byProof("edge"),
	outcome: byProof("outcome"),
	scenario: byProof("scenario"),
	choice: byProof("choice"),
	older: byProof("older"),
	"legacy-scenario": byProof("legacy-scenario"),
	"legacy-outcome": byProof("legacy-outcome"),
	"legacy-silence": byProof("legacy-silence"),
	"meerkat-scenario": byProof("meerkat-scenario"),
	"acp-outcome": byProof("acp-outcome"),
	"acp-scenario": byProof("acp-scenario"),
	state: (transcript, cell) => wasSentIn(transcript, cell, { idle: "idle", turn: "turn", replay: "replay" }),
	"legacy-state": (transcript, cell) => wasSentIn(transcript, cell, { idle: "idle", running: "turn" }),
	event: (transcript, cell) => delivered(transcript).some((line) => line.state !== "replay" && isMessage(line, cell)),
	replayed: (transcript, cell) =>
		delivered(transcript).some((line) => line.state === "replay" && isMessage(line, cell)),
	"legacy-event": (transcript, cell) => delivered(transcript).some((line) => isMessage(line, cell)),
	error: (transcript, cell) => delivered(transcript).some((line) => isError(line, cell, errorTexts)),
	"legacy-error": (transcript, cell) => delivered(transcript).some((line) => isError(line, cell, {})),
	"meerkat-event": (transcript, cell) =>
		delivered(transcript).some(
			({ text }) =>
				(text.includes('"method":"session/event"') && text.includes(`"type":"${cell}"`)) ||
				text.includes(`"method":"session/${cell}"`),
		),
	"meerkat-error": (transcript, cell) => delivered(transcript).some((line) => isMeerkatError(line, cell)),
	"meerkat-method": (transcript, cell) => sent(transcript).some((line) => isMeerkatMethod(line, cell)),
	"meerkat-request": wasAskedAndAnswered,
	"acp-state": (transcript, cell) => acpCalls(transcript).has(cell),
	"acp-update": (transcript, cell) => acpUpdates(transcript, "live").has(cell),
	"acp-replayed": (transcript, cell) => acpUpdates(transcript, "replay").has(cell),
	"acp-notification": (transcript, cell) =>
		delivered(transcript).some(({ text }) => text.startsWith(`{"jsonrpc":"2.0","method":"${cell}","params"`)),
	"acp-request": wasAskedAndAnswered,
	"acp-v2-method": (transcript, cell) =>
		sent(transcript).some(
			(line) => line.method === cell && (line.id === null ? line.isFollowed : line.answer !== null),
		),
	"acp-v2-update": (transcript, cell) =>
		delivered(transcript).some(({ text }) => text.includes(`"update":{"sessionUpdate":"${cell}"`)),
	"acp-v2-request": wasAskedAndAnswered,
	"acp-error": (transcript, cell) => delivered(transcript).some((line) => isError(line, cell, {})),
} satisfies { readonly [K in ProvenKind]: Rule } & Readonly<Record<string, Rule>>;

export type CoverKind = keyof typeof rules;
export const coverKinds = Object.keys(rules);

function isCoverKind(kind: string): kind is CoverKind {
	return kind in rules;
}

/** Whether the transcript holds the lines that show what it is marked with. */
export function isTrue(transcript: Transcript, { kind, cell }: Cover): boolean {
	return isCoverKind(kind) && rules[kind](transcript, cell);
}

/** What delivers apart the errors that share a number (wire-protocol §1.7). */
const errorTexts: Readonly<Record<string, string>> = {
	"-32000/busy": "An agent turn is already in progress",
	"-32000/no-turn": "No agent turn is in progress",
	"-32600/request": "Invalid request",
	"-32600/response": "Invalid response",
};

function sent(transcript: Transcript): readonly SentLine[] {
	return courseOf(transcript).flatMap((line) => (line.kind === "sent" ? [line] : []));
}

function delivered(transcript: Transcript): readonly DeliveredLine[] {
	return courseOf(transcript).flatMap((line) => (line.kind === "delivered" ? [line] : []));
}

/** `method/state`: the method was called in that state, and answered where it wants an answer. */
function wasSentIn(transcript: Transcript, cell: string, states: Readonly<Record<string, State>>): boolean {
	const [method, name = ""] = cell.split("/");
	const state = states[name];
	return sent(transcript).some(
		(line) =>
			line.method === method && line.state === state && (line.id === null ? line.isFollowed : line.answer !== null),
	);
}

function isMessage({ text }: DeliveredLine, type: string): boolean {
	return /^\{"jsonrpc":"2\.0","method":"(event|request)"/.test(text) && text.includes(`"params":{"type":"${type}"`);
}

/** `number` or `number/text`. */
function isError({ text }: DeliveredLine, cell: string, texts: Readonly<Record<string, string>>): boolean {
	const [number, name] = cell.split("/");
	const said = name === undefined ? "" : texts[cell];
	return said !== undefined && text.includes(`"error":{"code":${number},"message":"${said}`);
}

/** `NAME/era`: the name, with the number that it has in that era. */
function isMeerkatError({ text, era }: DeliveredLine, cell: string): boolean {
	const [name = "", wanted] = cell.split("/");
	const numbers: Readonly<Record<string, Readonly<Record<string, number>>>> = meerkatErrors;
	const number = numbers[name]?.[wanted ?? ""];
	return era === wanted && text.includes(`"error":{"code":${number},`) && text.includes(`"code":"${name}"`);
}

/** `method/era`: called in that era with a result, or delivered, where it is a notification. */
function isMeerkatMethod({ method, id, era, answer, isFollowed }: SentLine, cell: string): boolean {
	const slash = cell.lastIndexOf("/");
	if (method !== cell.slice(0, slash) || era !== cell.slice(slash + 1)) return false;
	return id === null ? method === "initialized" && isFollowed : (answer?.includes('"result"') ?? false);
}

/** The client was asked, and said something to it. */
function wasAskedAndAnswered(transcript: Transcript, method: string): boolean {
	const ids = delivered(transcript).flatMap(({ text }) => {
		const found = /^\{"jsonrpc":"2\.0","method":"([^"]+)","id":("[^"]+")/.exec(text);
		return found?.[1] === method ? [found[2]] : [];
	});
	return sent(transcript).some(({ method, id }) => method === null && id !== null && ids.includes(id));
}
