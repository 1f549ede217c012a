// Answers `initialize` before the program is loaded, if an earlier start has remembered the answer and nothing that it was made
// from has changed. The program then starts as always, handles the request itself, and its own answer is not sent.
import path from "node:path";
import type { LineText } from "../../base/long-text.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import type { Outbox } from "../../ports/transports/outbox.ts";
import { createPeekedInput } from "../../ports/transports/peeked-input.ts";
import {
	createStdioTransport,
	isServedByPipes,
	isStderrShared,
	openLineOutput,
	openStdin,
} from "../../ports/transports/stdio.ts";
import { makeThreadPool } from "../process/thread-pool.ts";
import { areUnchanged } from "./file-marks.ts";
import { answerBeginning, type RememberedAnswers, readHandshake, readRemembered } from "./remembered-answers.ts";
import { type StartFacts, toAnswersDirectory, toStartKey } from "./start-key.ts";

/** A start that may be answered before the program is loaded, and is remembered once it was answered. */
export interface FirstAnswer {
	/** The file that remembers it. */
	readonly file: string;
	/** The program itself: another one may answer differently. */
	readonly program: string;
	/** What was answered before the program was loaded; null for nothing. */
	readonly given: GivenAnswer | null;
	/**
	 * stdin and stdout, with what was read already. From then on only the program answers. `outboxBytes` is the limit of the outbox.
	 */
	takeOver(outboxBytes: number): LineTransport;
}

interface GivenAnswer {
	readonly params: string;
	/** How the answer begins, and what follows. */
	readonly beginning: string;
	readonly rest: string;
}

const newline = 0x0a;

/** Resolves when the request that is there already was answered, or when there is none; it never waits for one. */
export async function answerEarly(facts: StartFacts, cacheHome: string): Promise<FirstAnswer> {
	const file = path.join(toAnswersDirectory(cacheHome), `${toStartKey(facts)}.json`);
	const { program } = facts;
	const remembered = readRemembered(file);
	if (remembered === null || !isServedByPipes() || isStderrShared()) {
		return { file, program, given: null, takeOver: openTransport };
	}
	makeThreadPool();
	const input = createPeekedInput(openStdin());
	let outbox: Outbox | null = null;
	let given: GivenAnswer | null = null;
	let isTaken = false;

	const answer = (bytes: Buffer | null): void => {
		if (isTaken || bytes === null) return;
		given = findAnswer(remembered, bytes);
		if (given === null) return;
		outbox ??= openLineOutput(remembered.outboxBytes);
		outbox.send(`${given.beginning}${given.rest}`);
	};
	if (await areUnchanged(remembered.files)) {
		const answering = input.first.then(answer);
		await Promise.race([answering, nextTurns()]);
	}
	return {
		file,
		program,
		get given() {
			return given;
		},
		takeOver(outboxBytes) {
			isTaken = true;
			const transport = createStdioTransport({ input, outbox: outbox ?? openLineOutput(outboxBytes) });
			return given === null ? transport : withoutAnswer(transport, given.beginning);
		},
	};
}

function openTransport(outboxBytes: number): LineTransport {
	return createStdioTransport({ input: openStdin(), outbox: openLineOutput(outboxBytes) });
}

/** Null when it is another request, or not whole yet. */
function findAnswer({ answers }: RememberedAnswers, bytes: Buffer): GivenAnswer | null {
	const end = bytes.indexOf(newline);
	const request = end === -1 ? null : readHandshake(bytes.toString("utf8", 0, end));
	if (request === null || !Object.hasOwn(answers, request.params)) return null;
	const { params } = request;
	return { params, beginning: answerBeginning(request), rest: answers[params] ?? "" };
}

/** Resolves after what has arrived by now has been looked at. */
function nextTurns(): Promise<void> {
	return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** Does not send the first line that begins so. */
function withoutAnswer(transport: LineTransport, beginning: string): LineTransport {
	let isDue = true;
	return {
		...transport,
		gone: transport.gone,
		send(line: LineText) {
			if (isDue && typeof line === "string" && line.startsWith(beginning)) isDue = false;
			else transport.send(line);
		},
	};
}
