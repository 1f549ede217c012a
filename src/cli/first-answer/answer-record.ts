// Remembers the first answer of a server, with the files that it was made from.
import type { Line } from "../../base/lines.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import type { FirstAnswer } from "./early-answer.ts";
import { type FileUse, markFiles } from "./file-marks.ts";
import {
	answerBeginning,
	type HandshakeRequest,
	longestAnswer,
	readHandshake,
	writeRemembered,
} from "./remembered-answers.ts";

/** The most files that an answer is worth comparing. */
const fileLimit = 300;

/** Milliseconds after the answer at which it is stored: what a first turn needs is loaded by then. */
const storingDelay = 1000;

export interface AnswerRecord {
	/** The same files; what is used of them until the first answer is noted. */
	watch(files: Files): Files;
	/**
	 * The same transport, whose first request and answer are noted. `isFixed` says whether the answer to a request with these params
	 * depends on nothing but the start and those files.
	 */
	listen(transport: LineTransport, outboxBytes: number, isFixed: (params: string) => boolean): LineTransport;
	/** Stores the answer now, if it was not yet. */
	store(): Promise<void>;
}

/** Begins to note. */
export function createAnswerRecord(early: FirstAnswer, log: Log): AnswerRecord {
	const { file, program } = early;
	const begunAt = Date.now();
	const uses = new Map<string, FileUse>([[program, "read"]]);
	let isOver = false;
	let answered: { readonly params: string; readonly rest: string; readonly outboxBytes: number } | null = null;

	const note = (path: string, use: FileUse): void => {
		if (isOver) return;
		if (use === "read" || !uses.has(path)) uses.set(path, use);
	};
	/** Whether this answer was sent already, as it was remembered. */
	const isGiven = ({ params }: HandshakeRequest, rest: string): boolean => {
		const { given } = early;
		if (given === null || given.params !== params) return false;
		if (given.rest === rest) return true;
		log.warn("The answer that was remembered for the handshake is no longer right.", { file });
		return false;
	};
	const store = async (): Promise<void> => {
		const storing = answered;
		answered = null;
		if (storing === null || uses.size > fileLimit) return;
		const files = await markFiles(uses, begunAt);
		if (files === null) return;
		writeRemembered(file, { files, outboxBytes: storing.outboxBytes }, storing.params, storing.rest);
	};

	return {
		watch: (files) => watchFiles(files, note, () => isOver),
		listen(transport, outboxBytes, isFixed) {
			let request: HandshakeRequest | null = null;
			let isFirst = true;
			const take = (line: Line): void => {
				if (!isFirst) return;
				isFirst = false;
				request = line.kind === "line" ? readHandshake(line.text) : null;
				if (request === null) isOver = true;
			};
			return {
				...transport,
				gone: transport.gone,
				receive(onLine, onEnd) {
					transport.receive((line) => {
						take(line);
						onLine(line);
					}, onEnd);
				},
				send(line) {
					if (!isOver) {
						isOver = true;
						const rest = toRest(request, line);
						if (request !== null && rest !== null && !isGiven(request, rest) && isFixed(request.params)) {
							answered = { params: request.params, rest, outboxBytes };
							setTimeout(() => void store(), storingDelay).unref();
						}
					}
					transport.send(line);
				},
			};
		},
		store,
	};
}

/** What follows the id in the answer to this request; null for any other line, and for an error. */
function toRest(request: HandshakeRequest | null, line: Parameters<LineTransport["send"]>[0]): string | null {
	if (request === null || typeof line !== "string" || line.length > longestAnswer) return null;
	const beginning = answerBeginning(request);
	return line.startsWith(`${beginning}"result":`) ? line.slice(beginning.length) : null;
}

/** Notes every use that can change what the program answers. */
function watchFiles(files: Files, note: (path: string, use: FileUse) => void, isOver: () => boolean): Files {
	const noting =
		<Rest extends readonly unknown[], Result>(use: FileUse, call: (path: string, ...rest: Rest) => Result) =>
		(path: string, ...rest: Rest): Result => {
			note(path, use);
			return call(path, ...rest);
		};
	return {
		...files,
		admitting: (admit) => {
			const admitted = files.admitting(admit);
			return isOver() ? admitted : watchFiles(admitted, note, isOver);
		},
		read: noting("read", files.read),
		readRange: noting("read", files.readRange),
		readPieces: noting("read", files.readPieces),
		list: noting("read", files.list),
		status: noting("seen", files.status),
		resolve: noting("seen", files.resolve),
	};
}
