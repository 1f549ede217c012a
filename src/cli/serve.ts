// Serves on stdio: one session, or as many as a client creates, until the client is gone.

import type { HostOfferName } from "../frontends/serve/host-dialects.ts";
import { serve } from "../frontends/serve/serve.ts";
import type { Installation } from "../host/installation.ts";
import { productName, productVersion } from "../host/product.ts";
import type { FaultOwner } from "../kernel/api.ts";
import { nobody } from "../kernel/session/fault-owner.ts";
import type { Session } from "../kernel/session/session.ts";
import { isStderrShared } from "../ports/transports/stdio.ts";
import type { NamedSession, ServeOptions } from "./arguments/command-line.ts";
import { type AnswerRecord, createAnswerRecord } from "./first-answer/answer-record.ts";
import type { FirstAnswer } from "./first-answer/early-answer.ts";
import { endInTime } from "./process/process-exit.ts";
import { takeProcess } from "./process/program-process.ts";
import { divertNotices } from "./process/standard-error.ts";
import { endProgram, startHost, startProgram } from "./program/program.ts";
import type { StartedKernel } from "./program/started-kernel.ts";

/** Serves until the client is gone; returns the exit code. `early` has its stdin and stdout. Throws UsageError. */
export async function runServer(
	executable: string,
	options: ServeOptions & { readonly session: NamedSession },
	installation: Installation,
	early: FirstAnswer,
): Promise<number> {
	const stopping = new AbortController();
	let faultOwner = (): FaultOwner | null => null;
	const stop = () => stopping.abort();
	const taken = takeProcess(options, installation, {
		onSignal() {
			// The program may hang before its orderly end is possible.
			endInTime(() => 0, taken.log);
			stop();
		},
		faultOwner: () => faultOwner(),
		onBroken: stop,
	});
	const record = createAnswerRecord(early, taken.log);
	if (options.prompt !== null) taken.log.warn("A prompt on the command line is not used by a server.");
	const offer = toOffer(options);
	const serveFrom = (program: ServedProgram) =>
		serveClient(executable, program, offer, options, { early, record }, stopping.signal, (toOwner) => {
			faultOwner = toOwner;
		});
	if (options.mode === "rpc" || options.mode === "acp" || options.mode === "stdio") {
		// The library answers what waits when it likes.
		const expectsClients = options.mode === "stdio";
		const started = await startHost(executable, options, taken, stopping.signal, { expectsClients });
		if (started === null) return 0;
		if ("exitCode" in started) return started.exitCode;
		return await serveFrom({ ...started, session: null });
	}
	const watched = { ...taken, watch: record.watch };
	const program = await startProgram(executable, options, { unattended: false }, watched, stopping.signal);
	if (program === null) return 0;
	return "exitCode" in program ? program.exitCode : await serveFrom(program);
}

/** What clients of many sessions are offered; null for nothing. */
function toOffer({ mode, acpProtocol }: ServeOptions): HostOfferName | null {
	if (mode === "wire") return null;
	if (mode === "stdio") return "stdio";
	return mode === "acp" ? `acp-${acpProtocol}` : "meerkat";
}

type ServedProgram = StartedKernel & { readonly session: Session | null };

async function serveClient(
	executable: string,
	program: ServedProgram,
	/** Null where clients have one session. */
	offer: HostOfferName | null,
	{ session: choice, contract }: ServeOptions,
	{ early, record }: { readonly early: FirstAnswer; readonly record: AnswerRecord },
	signal: AbortSignal,
	/** From then on an uncaught exception ends no more than its owner. */
	begun: (faultOwner: () => FaultOwner) => void,
): Promise<number> {
	const { session, compatibility, log } = program;
	const host = offer === null ? null : await program.openHost(offer, contract);
	begun(() => host?.faultOwner() ?? session ?? nobody);
	const { outboxBytes, requestsInFlight } = program.configuration.agentwire.limits;
	const opened = early.takeOver(outboxBytes);
	const isFixed = (params: string) => session !== null && isAnswerFixed(choice, program, params);
	const transport = record.listen(opened, outboxBytes, isFixed);
	// Between two lines of the protocol, and as lines of their own.
	if (isStderrShared()) {
		divertNotices({ write: (text) => transport.send(text.replace(/\n$/, "")), flush: () => transport.flush() });
	}
	const serving = serve({
		transport,
		session,
		...(session === null ? {} : { begun: session.begun }),
		...(host === null ? {} : { host }),
		server: { name: productName, version: productVersion },
		compatibility,
		maximumInFlight: requestsInFlight,
		log,
		signal,
	});
	const end = await serving.ended;
	return await endProgram(executable, program, {
		finish: async () => void (await Promise.all([serving.finish(), record.store()])),
		exitCode: () => (process.exitCode === 1 || end === "output-gone" || serving.isOutputGone() ? 1 : 0),
	});
}

/**
 * Whether the answer to a handshake depends on nothing but files and what the process was started with: on no session, command, server or
 * sandbox. No hook has to have run before it.
 */
function isAnswerFixed(
	{ kind }: ServeOptions["session"],
	{ configuration, hasMcpServers }: ServedProgram,
	params: string,
): boolean {
	if (kind !== "new" && kind !== "id") return false;
	const { hooks, sandbox } = configuration;
	if (sandbox.mode !== "off" || hooks.some(({ event }) => event === "SessionStart")) return false;
	return !hasMcpServers || !params.includes('"external_tools"');
}
