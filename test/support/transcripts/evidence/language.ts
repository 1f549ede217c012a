// The language of evidence: the lines that a transcript has to hold before a mark of it counts. Reads a proof into
// steps; whether a transcript has them is decided in search.ts. The README of the transcripts lists the steps.

/** One condition on a line: a text it holds, or must not hold. `{name}` in it stands for one value throughout a proof. */
export interface Needle {
	readonly text: string;
	readonly isWanted: boolean;
}

export type Step =
	| { readonly kind: "send" | "receive" | "next"; readonly needles: readonly Needle[] }
	/** A whole line of the client. */
	| { readonly kind: "exact"; readonly text: string }
	| { readonly kind: "raw"; readonly bytes: string; readonly repeat: number }
	/** Nothing is delivered before the next line of the client is answered. */
	| { readonly kind: "silence" }
	/** No such line before the next step, or, after the last one, to the end. */
	| { readonly kind: "never-sent" | "never-received"; readonly needles: readonly Needle[] }
	/** A text in front of the conversations: a setting, a script, a file. */
	| { readonly kind: "setup"; readonly text: string }
	/** A line between those of client and server, such as `close stdin`. */
	| { readonly kind: "directive"; readonly text: string }
	/** The next process. */
	| { readonly kind: "process" };

/** Reads a proof, one step a line. Throws for a line that is none. */
export function parseProof(text: string): readonly Step[] {
	const lines = text.split("\n").map((line) => line.trimStart());
	const steps = lines.filter((line) => line !== "").map(toStep);
	if (!steps.some(({ kind }) => isPositive[kind])) throw new Error(`a proof that wants no line: ${text}`);
	return steps;
}

/** Whether a step of this kind wants something to be there. */
const isPositive: { readonly [K in Step["kind"]]: boolean } = {
	send: true,
	receive: true,
	next: true,
	exact: true,
	raw: true,
	silence: false,
	"never-sent": false,
	"never-received": false,
	setup: false,
	directive: false,
	process: false,
};

function toStep(line: string): Step {
	if (line === "nothing") return { kind: "silence" };
	if (line === "process") return { kind: "process" };
	if (/^(close stdin|open gate|exit \d+|until file .+)$/.test(line)) return { kind: "directive", text: line };
	const raw = /^→raw (".*")(?: × (\d+))?$/.exec(line);
	if (raw !== null) return { kind: "raw", bytes: String(JSON.parse(raw[1] ?? "")), repeat: Number(raw[2] ?? 1) };
	if (line.startsWith("→= ")) return { kind: "exact", text: line.slice(3) };
	if (line.startsWith("≡ ")) return { kind: "setup", text: line.slice(2) };
	if (line.startsWith("no → ")) return { kind: "never-sent", needles: needlesOf(line.slice(5), ofClient) };
	if (line.startsWith("no ← ")) return { kind: "never-received", needles: needlesOf(line.slice(5), ofServer) };
	if (line.startsWith("→ ")) return { kind: "send", needles: needlesOf(line.slice(2), ofClient) };
	if (line.startsWith("←! ")) return { kind: "next", needles: needlesOf(line.slice(3), ofServer) };
	if (line.startsWith("← ")) return { kind: "receive", needles: needlesOf(line.slice(2), ofServer) };
	throw new Error(`not a step of a proof: ${line}`);
}

type Spelling = (word: string, position: number) => string;

function needlesOf(text: string, spelled: Spelling): readonly Needle[] {
	return text.split(" & ").map((word, position) => {
		const isWanted = !word.startsWith("!");
		return { text: spelled(isWanted ? word : word.slice(1), position), isWanted };
	});
}

/** A bare word of the client is a method, `any` any line. */
function ofClient(word: string): string {
	if (word === "any") return "";
	return /^(?:\$\/)?[a-z_]+(\/[a-z_]+)?$/.test(word) ? `"method":"${word}"` : word;
}

/** In front, a bare word of the server is a type, `=word` a status, a number the code of an error, `any` any line. */
function ofServer(word: string, position: number): string {
	if (position > 0) return word;
	if (word === "any") return "";
	if (/^-\d+$/.test(word)) return `"error":{"code":${word},`;
	if (/^=[a-z_]+$/.test(word)) return `"status":"${word.slice(1)}"`;
	if (/^[A-Z][A-Za-z]+$/.test(word)) return `"params":{"type":"${word}"`;
	return /^[a-z]+_[a-z_]+$/.test(word) ? `"type":"${word}"` : word;
}
