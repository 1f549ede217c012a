// Runs one turn and prints JSON lines (docs/guides/codex-sdk.md). Nobody answers approvals.
import { isatty } from "node:tty";
import type { SessionApi } from "../../api/kernel.ts";
import { toSessionMode } from "../../api/values/session-mode.ts";
import { aborted, unlessAborted } from "../../base/abort.ts";
import { toKernelError } from "../../base/errors.ts";
import { toJsonLine } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { ExecEvent } from "../../frontends/codex/exec-events.ts";
import { ExecProjection } from "../../frontends/codex/exec-projection.ts";
import type { Installation } from "../../host/installation.ts";
import type { Outbox } from "../../ports/transports/outbox.ts";
import { createTextOutput, readInput } from "../../ports/transports/stdio.ts";
import type { CodexExecOptions } from "../arguments/options/codex-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { createTurns, type Turns } from "../print/print-turns.ts";
import { endInTime, exitSoon } from "../process/process-exit.ts";
import { takeProcess } from "../process/program-process.ts";
import { writeNotice } from "../process/standard-error.ts";
import { stopSignals } from "../process/stop-signals.ts";
import { endProgram, type Program, startProgram } from "../program/program.ts";
import { toNamedSession } from "../sessions/session-choice.ts";
import { type ConfigOverrides, readConfigOverrides } from "./config-overrides.ts";
import { type ExecInput, readExecInput } from "./exec-input.ts";
import { execMode, toProgramOptions, withSandbox } from "./exec-settings.ts";

export const brokenPipe = 141;

export async function runCodexExec(
	executable: string,
	options: CodexExecOptions,
	installation: Installation,
): Promise<number> {
	const prompt = await readPrompt(options.prompt);
	const overrides = await readConfigOverrides(options.config);
	for (const key of overrides.ignored) writeNotice(`--config ${key} has no effect here.\n`);
	const programOptions = toProgramOptions(options, overrides);
	const session = await toNamedSession(programOptions);
	if (session === null) return 1;

	const stopped = new AbortController();
	let stopCode: number | null = null;
	let openSession: SessionApi | null = null;
	const stop = (code: number): void => {
		stopCode ??= code;
		stopped.abort();
	};
	const taken = takeProcess(programOptions, installation, {
		onSignal(signal) {
			if (signal === "SIGINT" && stopped.signal.aborted) return void exitSoon(stopSignals[signal]);
			stop(stopSignals[signal]);
			endInTime(() => stopCode ?? 1, taken.log);
		},
		faultOwner: () => openSession,
		onBroken: () => stop(1),
	});
	const input = await readExecInput(prompt, options, taken.place, taken.shareDir);
	const sandbox = options.sandbox ?? overrides.sandbox;
	const program = await startProgram(
		executable,
		{ ...programOptions, session },
		{ ...execMode, instructions: overrides.instructions },
		taken,
		stopped.signal,
		{ adjust: (settings) => withSandbox(settings, sandbox, overrides.network) },
	);
	if (program === null) return stopCode ?? 1;
	if ("exitCode" in program) return program.exitCode;
	openSession = program.session;

	const output = createTextOutput();
	output.gone.addEventListener("abort", () => stop(brokenPipe));
	const isConfined = program.configuration.sandbox.mode !== "off";
	const work = runTurn({ ...program, isConfined }, input, overrides, options.json, output, stopped.signal);
	await Promise.race([work.then(() => output.flush()), aborted(stopped.signal)]);
	const workCode = stopped.signal.aborted ? 1 : await work;
	return await endProgram(executable, program, {
		async finish() {
			await program.session.stop();
			await work;
			await output.flush();
		},
		exitCode: () => stopCode ?? workCode,
		// The first line contains the thread id.
		isUnheard: () => true,
	});
}

async function readPrompt(typed: string | null): Promise<string> {
	if (typed === null && isatty(0)) throw new UsageError("'codex exec' needs a PROMPT, or one on stdin.");
	return checkPrompt(typed ?? (await readInput()));
}

export function checkPrompt(prompt: string): string {
	if (prompt.trim() === "") throw new UsageError("'codex exec' needs a PROMPT: the one on stdin is empty.");
	return prompt;
}

export interface ExecSession {
	readonly session: SessionApi & Partial<Pick<Program["session"], "begun">>;
	readonly isConfined: boolean;
	readonly log: Log;
}

export async function runTurn(
	{ session, isConfined, log }: ExecSession,
	{ input, answerForm }: ExecInput,
	{ searchesWeb }: ConfigOverrides,
	isJson: boolean,
	output: Outbox,
	signal: AbortSignal,
): Promise<number> {
	const projection = new ExecProjection(session.id, session.workDir);
	const print = isJson ? printLine : printPlain;
	const send = (event: ExecEvent): void => print(event, projection, output);
	let turns: Turns | null = null;
	try {
		await unlessAborted(session.begun ?? Promise.resolve(), signal);
		send(projection.begin());
		if (isConfined) await leaveOpenModes(session);
		const { sandbox } = await session.send({ type: "session.describe" });
		if (isConfined && sandbox?.status !== "active") {
			send(projection.report(`Commands are refused: this machine has no sandbox (${sandbox?.why ?? "not set up"}).`));
		}
		turns = createTurns(
			session,
			(event) => {
				for (const each of projection.take(event)) send(each);
			},
			() => output.ready(),
			{ capabilities: [], approves: false },
		);
		const outcome = await turns.run(input, {
			options: {
				...(answerForm === null ? {} : { answerForm }),
				...(searchesWeb ? {} : { tools: { allowed: null, blocked: ["SearchWeb"] } }),
			},
		});
		for (const event of projection.end(outcome)) send(event);
		return projection.outcome === "completed" ? 0 : 1;
	} catch (thrown) {
		log.error("A run of codex exec failed.", { error: thrown });
		send({ type: "error", message: toKernelError(thrown).message });
		return 1;
	} finally {
		await turns?.close();
	}
}

/** A mode set in another client would approve actions that this run denies. */
async function leaveOpenModes(session: SessionApi): Promise<void> {
	const mode = toSessionMode(await session.snapshot());
	if (mode !== "default") await session.send({ type: "mode.set", mode: "default" });
}

type Print = (event: ExecEvent, projection: ExecProjection, output: Outbox) => void;

const printLine: Print = (event, _projection, output) => output.send(`${toJsonLine(event)}\n`);

/** For people: prints the last message, or the reason on stderr if there is none. */
const printPlain: Print = (event, { lastMessage }, output) => {
	if (event.type === "turn.completed" && lastMessage !== "") output.send(`${lastMessage}\n`);
	if (event.type === "turn.failed") writeNotice(`${event.error.message}\n`);
	if (event.type === "error") writeNotice(`${event.message}\n`);
	if (event.type === "item.completed" && event.item.type === "error") writeNotice(`${event.item.message}\n`);
};
