// Runs a script's prompts one after another, and exits with a code for the outcome (docs/guides/print.md).
import path from "node:path";
import { isatty } from "node:tty";
import type { SessionApi } from "../../api/kernel.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { aborted, unlessAborted } from "../../base/abort.ts";
import { systemClock } from "../../base/clock.ts";
import { errorText, systemErrorCode, toKernelError } from "../../base/errors.ts";
import { oneLine } from "../../base/text/sentence.ts";
import type { Installation } from "../../host/installation.ts";
import type { Outbox } from "../../ports/transports/outbox.ts";
import { createTextOutput, isStderrShared, readInput, readInputLines } from "../../ports/transports/stdio.ts";
import type { PrintOptions } from "../arguments/command-line.ts";
import { isCalledKimi } from "../arguments/executable-name.ts";
import { endInTime, exitSoon } from "../process/process-exit.ts";
import { takeProcess } from "../process/program-process.ts";
import { divertNotices, writeNotice } from "../process/standard-error.ts";
import { stopSignals } from "../process/stop-signals.ts";
import { endProgram, type Program, startProgram } from "../program/program.ts";
import { toNamedSession } from "../sessions/session-choice.ts";
import { versionOf } from "../version.ts";
import { awaitBackgroundWork } from "./print-background.ts";
import { createFinalPrinter } from "./print-final.ts";
import { readMessages, readPrompt } from "./print-input.ts";
import { closingLine, createRunUsage, kimiCodeForm, openingLine, resumeLine } from "./print-kimi-code.ts";
import { modelNote } from "./print-model-notes.ts";
import { createCursor, createProgress, noProgress, type Progress } from "./print-progress.ts";
import { createReprPrinter } from "./print-repr.ts";
import { createSandboxNote } from "./print-sandbox.ts";
import { createServerNotes } from "./print-servers.ts";
import { createStreamJsonPrinter, messageForm } from "./print-stream-json.ts";
import { createTextPrinter } from "./print-text.ts";
import { createTurns, type Turns } from "./print-turns.ts";
import { type Printer, type PrintFailure, toFailure, type Write } from "./printer.ts";

const brokenPipe = 141;

export async function runPrint(executable: string, options: PrintOptions, installation: Installation): Promise<number> {
	const isText = options.inputFormat === "text";
	const first = isText ? await readPrompt(options.prompt, isatty(0), readInput) : options.prompt;
	const session = await toNamedSession(options);
	if (session === null) {
		writeNotice("No session was chosen; nothing was done.\n");
		return 1;
	}
	const confinesCommands = !options.yolo && !isCalledKimi(executable);
	const early = createEarlyEnd();
	let openSession: SessionApi | null = null;
	const taken = takeProcess(options, installation, {
		onSignal(signal) {
			// A second interrupt exits immediately.
			if (signal === "SIGINT" && early.signal.aborted) return void exitSoon(stopSignals[signal]);
			early.end(stopSignals[signal]);
			endInTime(() => early.exitCode() ?? 1, taken.log);
		},
		faultOwner: () => openSession,
		onBroken: () => early.end(1),
	});
	const program = await startProgram(
		executable,
		{ ...options, session },
		{ unattended: true, passesUnknownCommands: options.lines === "kimi-code", confinesCommands },
		taken,
		early.signal,
	);
	if (program === null) return early.exitCode() ?? 1;
	if ("exitCode" in program) return program.exitCode;
	openSession = program.session;
	let isResumable = program.session.hasHistory;

	const output = createTextOutput();
	if (isStderrShared()) divertNotices({ write: (text) => output.send(text), flush: () => output.flush() });
	output.gone.addEventListener("abort", () => early.end(isBrokenPipe(output) ? brokenPipe : 1));
	const screen = createScreen(output, taken.environment["TERM"] !== "dumb");
	const printer = createPrinter(options, screen.write);
	const closing = createClosing(executable, options, program.session, screen);
	const servers = createServerNotes(executable, taken.shareDir);
	const { sandbox, defaultYolo } = program.configuration;
	const isConfining = confinesCommands && !defaultYolo && sandbox.mode === "off" && sandbox.creators;
	const noteSandbox = createSandboxNote(program.session, isConfining, screen.complain);
	const turns = createTurns(
		program.session,
		(event) => {
			noteSandbox(event);
			isResumable ||= event.body.type === "content.delta" || event.body.type === "tool.requested";
			if (options.outputFormat === "text") for (const note of servers(event)) screen.complain(note);
			const note = modelNote(event, options);
			if (note !== null) screen.complain(note);
			screen.progress.take(event);
			printer.take(event);
			closing?.take(event);
		},
		() => output.ready(),
	);
	const prompts = readPrompts(first, isText, screen.complain);
	const fail = (failure: PrintFailure): void => {
		// The turn ended because the reader closed stdout, not because a person stopped it.
		if (output.gone.aborted) return;
		// The answer was printed already; nothing else belongs on stdout.
		if (failure.status === "truncated" && closing === null) screen.complain(failure.message);
		else printer.fail(failure);
		closing?.fail(failure);
	};
	const work = runPrompts(prompts, isText, turns, fail, program, early.signal);
	await Promise.race([work.then(() => output.flush()), aborted(early.signal)]);
	screen.progress.end();
	const workCode = early.signal.aborted ? 1 : await work;
	return await endProgram(executable, program, {
		async finish() {
			await program.session.stop();
			await work;
			closing?.print();
			await output.flush();
			if (output.gone.aborted && !isBrokenPipe(output))
				screen.complain(`Cannot write to stdout: ${errorText(output.gone.reason)}.`);
		},
		exitCode: () => early.exitCode() ?? workCode,
		// A closing line contains the hint on stdout.
		isUnheard: () => output.gone.aborted || closing !== null || (workCode !== 0 && !isResumable),
	});
}

async function runPrompts(
	prompts: AsyncIterable<UserInput>,
	/** Whether there is a single prompt, after which background work is awaited. */
	isText: boolean,
	turns: Turns,
	fail: (failure: PrintFailure) => void,
	{ log, session, configuration }: Program,
	signal: AbortSignal,
): Promise<number> {
	const iterator = prompts[Symbol.asyncIterator]();
	try {
		await unlessAborted(session.begun, signal);
		while (!signal.aborted) {
			const next = await unlessAborted(iterator.next(), signal);
			if (next === null || next.done === true) break;
			const ran = toFailure(await turns.run(next.value), Object.keys(configuration.models));
			const ceiling = configuration.background.printWaitCeilingS;
			const wait = { session, turns, ceiling, clock: systemClock };
			const failure = ran ?? (isText ? await awaitBackgroundWork(wait, signal) : null);
			if (failure !== null) {
				fail(failure);
				return failure.exitCode;
			}
		}
		return 0;
	} catch (thrown) {
		log.error("A print run failed.", { error: thrown });
		const { message, code } = toKernelError(thrown);
		fail({ message, code, status: "failed", exitCode: 1 });
		return 1;
	}
}

async function* readPrompts(
	first: string | null,
	isText: boolean,
	complain: (text: string) => void,
): AsyncGenerator<UserInput> {
	if (first !== null) yield first;
	if (!isText) yield* readMessages(readInputLines(), complain);
}

function createPrinter({ outputFormat, lines, textForm, finalMessageOnly }: PrintOptions, write: Write): Printer {
	if (finalMessageOnly) return createFinalPrinter(outputFormat, write);
	if (outputFormat === "text") return textForm === "repr" ? createReprPrinter(write) : createTextPrinter(write);
	return createStreamJsonPrinter(lines === "kimi-code" ? kimiCodeForm : messageForm, write);
}

interface Closing {
	take(event: AgentEvent): void;
	fail(failure: PrintFailure): void;
	print(): void;
}

/** Prints the first line. Null for formats without such lines. */
function createClosing(
	executable: string,
	{ outputFormat, lines }: PrintOptions,
	session: Program["session"],
	{ write, complain }: Screen,
): Closing | null {
	if (outputFormat !== "stream-json" || lines !== "kimi-code") return null;
	write(openingLine(versionOf(executable)));
	const usage = createRunUsage();
	let failed: PrintFailure | null = null;
	return {
		take: usage.take,
		fail(failure) {
			failed = failure;
			complain(oneLine(failure.message));
		},
		print() {
			write(closingLine(failed, usage));
			if (session.hasHistory) write(resumeLine(path.basename(executable), session.id));
		},
	};
}

interface Screen {
	readonly progress: Progress;
	readonly write: Write;
	complain(text: string): void;
}

function createScreen(output: Outbox, canErase: boolean): Screen {
	const sharesTerminal = isatty(1);
	const columns = () => process.stderr.columns || 80;
	const cursor = createCursor(systemClock, columns);
	const progress =
		isatty(2) && canErase
			? createProgress({
					clock: systemClock,
					write: (text) => void process.stderr.write(text),
					columns,
					column: () => (sharesTerminal ? cursor.column() : 0),
				})
			: noProgress;
	process.once("exit", progress.clear);
	return {
		progress,
		write(text) {
			progress.clear();
			cursor.take(text);
			output.send(text);
		},
		complain(text) {
			progress.clear();
			writeNotice(`${text}\n`);
		},
	};
}

/** Ends the run early; the first reason determines the exit code. */
function createEarlyEnd() {
	const controller = new AbortController();
	let exitCode: number | null = null;
	return {
		signal: controller.signal,
		/** Null while the run continues. */
		exitCode: () => exitCode,
		end(code: number): void {
			exitCode ??= code;
			controller.abort();
		},
	};
}

/** Whether the reader closed stdout, as opposed to a write error. */
function isBrokenPipe({ gone }: Outbox): boolean {
	const code = systemErrorCode(gone.reason);
	return gone.aborted && (code === null || code === "EPIPE" || code === "ECONNRESET");
}
