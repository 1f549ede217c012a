// Plays one conversation of a transcript as the client, against a server at hand, whatever carries its lines.
import { type Comparison, more } from "./comparison.ts";
import type { Move } from "./format.ts";

export interface Server {
	write(bytes: Buffer): void;
	closeInput(): void;
	read(): Promise<string | null>;
	exitCode(): Promise<number>;
	openGate(): void;
	fileExists(name: string): Promise<void>;
}

export interface Playing {
	readonly moves: readonly Move[];
	readonly server: Server;
	readonly comparison: Comparison;
	readonly patience: number;
	readonly observer?: { sent(text: string): void; received(line: string): void };
	/** After the last line the input is closed and nothing may follow, or it stays open. */
	readonly ending: "closed" | "open";
}

/** The first difference between a server and its transcript. */
export class TranscriptDifference extends Error {
	readonly line: number;
	readonly reason: string;
	readonly expected: string;
	readonly received: string;

	constructor(line: number, reason: string, expected: string, received: string, soFar: readonly string[]) {
		super(`line ${line}: ${reason}\nexpected: ${expected}\nreceived: ${received}\nso far:\n${soFar.join("\n")}`);
		this.line = line;
		this.reason = reason;
		this.expected = expected;
		this.received = received;
	}
}

export async function play({ moves: given, server, comparison, patience, observer, ending }: Playing): Promise<void> {
	const moves = comparison.prepare(given);
	const soFar: string[] = [];
	const failure = (line: number, expected: string, received: string, reason = "the server says something else") =>
		new TranscriptDifference(line, reason, expected, received, soFar);
	const late = (line: number, expected: string) => () =>
		failure(line, expected, "nothing", `nothing came for ${patience / 1000} s`);
	const read = async (line: number, expected: string): Promise<string | null> => {
		for (;;) {
			const next = await within(patience, server.read(), late(line, expected));
			if (next === null) return null;
			soFar.push(`← ${next}`);
			observer?.received(next);
			if (!comparison.isOptional(next)) return next;
		}
	};
	const readOneOf = async (line: number, texts: readonly string[]): Promise<number> => {
		const expected = texts.join("\n  or ");
		for (;;) {
			const next = await read(line, expected);
			if (next === null) throw failure(line, expected, "the end", "the server ended its output");
			const differences = texts.map((text) => comparison.differenceOf(text, next));
			const found = differences.indexOf(null);
			if (found !== -1) return found;
			if (!differences.includes(more)) throw failure(line, expected, next, differences[0] ?? undefined);
		}
	};

	const run = async (move: Exclude<Move, { kind: "send" }>): Promise<void> => {
		switch (move.kind) {
			case "receive":
				await readOneOf(move.line, [move.text]);
				return;
			case "unordered": {
				const chains = move.chains.map((chain) => [...chain]).filter((chain) => chain.length > 0);
				while (chains.length > 0) {
					const found = await readOneOf(
						move.line,
						chains.map(([text = ""]) => text),
					);
					const chain = chains[found];
					chain?.shift();
					if (chain?.length === 0) chains.splice(found, 1);
				}
				return;
			}
			case "until-file":
				return within(patience, server.fileExists(move.name), late(move.line, `the file ${move.name}`));
			case "exit": {
				const code = await within(patience, server.exitCode(), late(move.line, `exit ${move.code}`));
				if (move.code === "nonzero" ? code === 0 : code !== move.code)
					throw failure(move.line, `exit ${move.code}`, `exit ${code}`, "the exit code differs");
				return;
			}
			case "close-input":
				server.closeInput();
				return;
			case "open-gate":
				server.openGate();
				return;
			case "nothing":
				return;
		}
	};

	for (const [index, move] of moves.entries()) {
		if (move.kind !== "send") {
			await run(move);
			continue;
		}
		// Directly consecutive lines are one write, as pipelined input is.
		if (moves[index - 1]?.kind === "send") continue;
		const rest = moves.slice(index);
		const end = rest.findIndex(({ kind }) => kind !== "send");
		const sends = rest.slice(0, end === -1 ? rest.length : end).filter((each) => each.kind === "send");
		for (const { bytes } of sends) if (bytes.length < 1000) soFar.push(`→ ${bytes.trimEnd()}`);
		const bytes = Buffer.from(sends.map((each) => comparison.fill(each.bytes).repeat(each.repeat)).join(""), "latin1");
		if (bytes.length < 1_000_000) observer?.sent(bytes.toString("utf8"));
		server.write(bytes);
	}
	if (ending === "open") return;
	const last = moves.at(-1)?.line ?? 0;
	if (!moves.some(({ kind }) => kind === "close-input")) server.closeInput();
	const extra = await read(last, "the end");
	if (extra !== null) throw failure(last, "the end", extra);
	if (!moves.some(({ kind }) => kind === "exit")) await run({ kind: "exit", line: last, code: 0 });
}

async function within<T>(milliseconds: number, work: Promise<T>, toError: () => Error): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(toError()), milliseconds);
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}
