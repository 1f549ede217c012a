// Whether a transcript holds the lines of a proof, in their order.
import type { Move, Transcript } from "../../../../src/testing/transcripts/format.ts";
import type { Needle, Step } from "./language.ts";

/** One line of a transcript, in the order it is written; chains whose order is open stand one after the other. */
export type Line =
	| { readonly kind: "send"; readonly text: string }
	| { readonly kind: "raw"; readonly bytes: string; readonly repeat: number }
	| { readonly kind: "receive"; readonly text: string }
	| { readonly kind: "silence" }
	| { readonly kind: "directive"; readonly text: string }
	| { readonly kind: "process" };

type Bindings = ReadonlyMap<string, string>;

/** The lines of every conversation; a process begins each. */
export function linesOf(transcript: Transcript): readonly Line[] {
	return transcript.conversations.flatMap((moves) => [{ kind: "process" }, ...moves.flatMap(toLines)]);
}

function toLines(move: Move): readonly Line[] {
	switch (move.kind) {
		case "send":
			return [{ kind: "raw", bytes: move.bytes, repeat: move.repeat }, ...sentLines(move)];
		case "receive":
			return [{ kind: "receive", text: move.text }];
		case "unordered":
			return move.chains.flat().map((text) => ({ kind: "receive", text }));
		case "nothing":
			return [{ kind: "silence" }];
		case "close-input":
			return [{ kind: "directive", text: "close stdin" }];
		case "open-gate":
			return [{ kind: "directive", text: "open gate" }];
		case "exit":
			return [{ kind: "directive", text: `exit ${move.code}` }];
		case "until-file":
			return [{ kind: "directive", text: `until file ${move.name}` }];
	}
}

function sentLines({ bytes, repeat }: { readonly bytes: string; readonly repeat: number }): Line[] {
	if (repeat > 1) return [];
	return bytes
		.replace(/\n$/, "")
		.split("\n")
		.map((line) => ({ kind: "send", text: toText(line) }));
}

/** As UTF-8 where it is that; otherwise the bytes, a character each. */
function toText(bytes: string): string {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, "latin1"));
	} catch {
		return bytes;
	}
}

/** Whether the steps are there, one after the other. */
export function isProven(transcript: Transcript, steps: readonly Step[]): boolean {
	const setups = steps.flatMap((step) => (step.kind === "setup" ? [step.text] : []));
	if (!setups.every((text) => transcript.setup.includes(text))) return false;
	return hasFrom(
		linesOf(transcript),
		0,
		steps.filter(({ kind }) => kind !== "setup"),
		new Map(),
	);
}

function hasFrom(lines: readonly Line[], from: number, steps: readonly Step[], bindings: Bindings): boolean {
	const wanted = steps.findIndex((step) => !isProhibition(step));
	const prohibitions = steps.slice(0, wanted === -1 ? steps.length : wanted).filter(isProhibition);
	const step = steps[wanted];
	for (let index = from; index < lines.length; index += 1) {
		const line = lines[index];
		if (line === undefined) return false;
		const found = step === undefined ? null : match(line, step, bindings);
		if (found !== null && hasFrom(lines, index + 1, steps.slice(wanted + 1), found)) return true;
		if (step !== undefined && isAtOnce(step) && line.kind === "receive") return false;
		if (prohibitions.some((prohibition) => match(line, prohibition, bindings) !== null)) return false;
	}
	return step === undefined;
}

type Prohibition = Extract<Step, { kind: "never-sent" | "never-received" }>;

function isProhibition(step: Step): step is Prohibition {
	return step.kind === "never-sent" || step.kind === "never-received";
}

/** Whether no line of the server may stand between this step and the one before it. */
function isAtOnce({ kind }: Step): boolean {
	return kind === "next" || kind === "silence";
}

/** Whether the line is one that the step is about, whatever the names in it stand for. */
export function isHeld(line: Line, step: Step): boolean {
	return match(line, step, new Map()) !== null;
}

/** What is bound once the line is taken for the step; null when it is not that step. */
function match(line: Line, step: Step, bindings: Bindings): Bindings | null {
	switch (step.kind) {
		case "send":
		case "never-sent":
			return line.kind === "send" ? matchNeedles(line.text, step.needles, bindings) : null;
		case "receive":
		case "next":
		case "never-received":
			return line.kind === "receive" ? matchNeedles(line.text, step.needles, bindings) : null;
		case "exact":
			return line.kind === "send" && line.text === step.text ? bindings : null;
		case "raw":
			return line.kind === "raw" && line.bytes === step.bytes && line.repeat >= step.repeat ? bindings : null;
		case "silence":
		case "process":
			return line.kind === step.kind ? bindings : null;
		case "directive":
			return line.kind === "directive" && line.text === step.text ? bindings : null;
		case "setup":
			return null;
	}
}

function matchNeedles(text: string, needles: readonly Needle[], bindings: Bindings): Bindings | null {
	let bound = bindings;
	for (const { text: needle, isWanted } of needles) {
		const found = find(text, needle, bound);
		if ((found !== null) !== isWanted) return null;
		if (found !== null) bound = found;
	}
	return bound;
}

/** Where the needle has a `{name}` that is bound it stands for that value, otherwise it is bound to what stands there. */
function find(text: string, needle: string, bindings: Bindings): Bindings | null {
	const names: string[] = [];
	const pattern = needle
		.split(/(\{[a-z]+\})/)
		.map((piece) => {
			if (!/^\{[a-z]+\}$/.test(piece)) return escaped(piece);
			const name = piece.slice(1, -1);
			const value = bindings.get(name);
			if (value !== undefined) return escaped(value);
			if (names.includes(name)) return `\\k<${name}>`;
			names.push(name);
			return `(?<${name}>[^",{}]+)`;
		})
		.join("");
	const found = new RegExp(pattern, "u").exec(text);
	if (found === null) return null;
	return new Map([...bindings, ...names.map((name) => [name, found.groups?.[name] ?? ""] as const)]);
}

function escaped(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
