// Plays one conversation of a transcript against a server at hand, whatever carries its lines.
import { access } from "node:fs/promises";
import path from "node:path";
import { createAcpSniffer, createDraftSniffer } from "../acp/acp-sniffer.ts";
import { createMeerkatSniffer } from "../meerkat/meerkat-sniffer.ts";
import type { Move, Transcript } from "./transcript-format.ts";
import type { Bindings } from "./transcript-placeholders.ts";
import { createSniffer } from "./transcript-sniffer.ts";

/** A server that was started for one conversation. */
export interface Server {
	write(bytes: Buffer): void;
	closeInput(): void;
	/** The next line, or null when the output has ended. */
	read(): Promise<string | null>;
	/** Resolves with the exit code when the server is over. */
	exitCode(): Promise<number>;
	/** Lets the model continue after the gate at which it stands. */
	openGate(): void;
}

const sniffers = {
	session: createSniffer,
	meerkat: createMeerkatSniffer,
	acp: createAcpSniffer,
	"acp-v2": createDraftSniffer,
};

/** Milliseconds to wait for one line: long, but not where the transcript is known to fail. */
const longestPatience = 10_000;
const patienceWithDeviation = 300;

/** Throws at the first difference. Without a `close stdin` the input is closed at the end, and nothing more may come. */
export async function play(
	{ deviation, server: kind }: Transcript,
	moves: readonly Move[],
	server: Server,
	bindings: Bindings,
	workDir: string,
): Promise<void> {
	const patience = deviation === null ? longestPatience : patienceWithDeviation;
	const received: string[] = [];
	const sniffer = sniffers[kind]();
	const read = async (line: number, wanted: string): Promise<string | null> => {
		const next = await within(patience, server.read(), () => failure(line, wanted, "nothing", received));
		if (next !== null) received.push(`← ${next}`);
		return next;
	};

	const run = async (move: Move): Promise<void> => {
		switch (move.kind) {
			case "receive": {
				const next = await read(move.line, move.text);
				if (next === null || !bindings.matches(move.text, next)) {
					throw failure(move.line, move.text, next ?? "the end", received);
				}
				sniffer.received(next);
				return;
			}
			case "unordered": {
				const chains = move.chains.map((chain) => [...chain]);
				while (chains.some((chain) => chain.length > 0)) {
					const wanted = chains.map((chain) => chain[0] ?? "").join("\n  or ");
					const next = await read(move.line, wanted);
					const chain = chains.find(([first]) => first !== undefined && next !== null && bindings.matches(first, next));
					if (chain === undefined || next === null) throw failure(move.line, wanted, next ?? "the end", received);
					chain.shift();
					sniffer.received(next);
				}
				return;
			}
			case "until-file":
				return within(patience, fileExists(path.join(workDir, move.name)), () =>
					failure(move.line, `the file ${move.name}`, "none", received),
				);
			case "exit": {
				const code = await within(patience, server.exitCode(), () =>
					failure(move.line, `exit ${move.code}`, "none", received),
				);
				if (code !== move.code) throw failure(move.line, `exit ${move.code}`, `exit ${code}`, received);
				return;
			}
			case "close-input":
				server.closeInput();
				return;
			case "open-gate":
				server.openGate();
				return;
			case "send":
			case "nothing":
				return;
		}
	};

	for (const [index, move] of moves.entries()) {
		if (move.kind !== "send") {
			await run(move);
			continue;
		}
		// Lines that follow one another directly are one write: that is what pipelined input is.
		if (moves[index - 1]?.kind === "send") continue;
		const rest = moves.slice(index);
		const end = rest.findIndex(({ kind }) => kind !== "send");
		const sends = rest.slice(0, end === -1 ? rest.length : end).filter((each) => each.kind === "send");
		for (const { bytes } of sends) if (bytes.length < 1000) received.push(`→ ${bytes.trimEnd()}`);
		const bytes = Buffer.from(sends.map((each) => bindings.fill(each.bytes).repeat(each.repeat)).join(""), "latin1");
		if (bytes.length < 1_000_000) sniffer.sent(bytes.toString("utf8"));
		server.write(bytes);
	}
	const last = moves.at(-1)?.line ?? 0;
	if (!moves.some(({ kind }) => kind === "close-input")) server.closeInput();
	const extra = await read(last, "the end");
	if (extra !== null) throw failure(last, "the end", extra, received);
	if (!moves.some(({ kind }) => kind === "exit")) {
		await run({ kind: "exit", line: last, code: 0 });
	}
}

function failure(line: number, wanted: string, got: string, received: readonly string[]): Error {
	return new Error(`line ${line}\nexpected: ${wanted}\nreceived: ${got}\nso far:\n${received.join("\n")}`);
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

async function fileExists(file: string): Promise<void> {
	const isThere = () =>
		access(file).then(
			() => true,
			() => false,
		);
	while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 5));
}
