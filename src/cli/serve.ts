import type { FaultOwner } from "../api/kernel.ts";
import type { HostOfferName } from "../frontends/serve/host-dialects.ts";
import { serve } from "../frontends/serve/serve.ts";
import type { Installation } from "../host/installation.ts";
import { productName, productVersion } from "../host/product.ts";
import { nobody } from "../kernel/session/fault-owner.ts";
import type { Session } from "../kernel/session/session.ts";
import { createStdioTransport, isStderrShared, openLineOutput, openStdin } from "../ports/transports/stdio.ts";
import type { NamedSession, ServeOptions } from "./arguments/command-line.ts";
import { divertNotices } from "./process/standard-error.ts";
import { takeStoppableProcess } from "./process/stoppable-process.ts";
import type { HostStart } from "./program/preparation.ts";
import { endProgram, startHost, startProgram } from "./program/program.ts";
import type { StartedKernel } from "./program/started-kernel.ts";

export async function runServer(
	executable: string,
	options: ServeOptions & { readonly session: NamedSession },
	installation: Installation,
	adjust: HostStart["adjust"] = (settings) => settings,
): Promise<number> {
	const { taken, stopping, setFaultOwner } = takeStoppableProcess(options, installation);
	if (options.prompt !== null) taken.log.warn("A prompt on the command line is not used by a server.");
	const offer = toOffer(options);
	const serveFrom = (program: ServedProgram) =>
		serveClient(executable, program, offer, options, stopping.signal, setFaultOwner);
	if (options.mode !== null && options.mode !== "wire") {
		// The library's clients may answer requests at any time.
		const expectsClients = options.mode === "stdio";
		const started = await startHost(executable, options, taken, stopping.signal, { expectsClients, adjust });
		if (started === null) return 0;
		if ("exitCode" in started) return started.exitCode;
		return await serveFrom({ ...started, session: null });
	}
	const program = await startProgram(executable, options, { unattended: false }, taken, stopping.signal);
	if (program === null) return 0;
	return "exitCode" in program ? program.exitCode : await serveFrom(program);
}

function toOffer({ mode, acpProtocol }: ServeOptions): HostOfferName | null {
	if (mode === "wire") return null;
	if (mode === "stdio" || mode === "codex") return mode;
	return mode === "acp" ? `acp-${acpProtocol}` : "meerkat";
}

type ServedProgram = StartedKernel & { readonly session: Session | null };

async function serveClient(
	executable: string,
	program: ServedProgram,
	/** Null for single-session clients. */
	offer: HostOfferName | null,
	{ contract }: ServeOptions,
	signal: AbortSignal,
	begun: (faultOwner: () => FaultOwner) => void,
): Promise<number> {
	const { session, compatibility, log } = program;
	const host = offer === null ? null : await program.openHost(offer, contract, { attaches: offer === "stdio" });
	begun(() => host?.faultOwner() ?? session ?? nobody);
	const { outboxBytes, requestsInFlight } = program.configuration.agentwire.limits;
	const transport = createStdioTransport({ input: openStdin(), outbox: openLineOutput(outboxBytes) });
	// Between two protocol lines, and as separate lines.
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
		finish: () => serving.finish(),
		exitCode: () => (process.exitCode === 1 || end === "output-gone" || serving.isOutputGone() ? 1 : 0),
	});
}
