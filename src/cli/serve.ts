// Serving on stdio: one session, for a client that speaks JSON-RPC, until the client is gone.
import { serve } from "../server/serve.ts";
import { createStdioTransport } from "../transports/stdio.ts";
import type { ServeOptions } from "./command-line.ts";
import { endProgram, type Program, startProgram } from "./program.ts";
import { takeProcess } from "./program-process.ts";
import { productName, productVersion } from "./version.ts";

/** Serves until the client is gone; returns the exit code. Throws UsageError. */
export async function runServer(executable: string, options: ServeOptions, packageDir: string): Promise<number> {
	const stopping = new AbortController();
	const stop = () => stopping.abort();
	const taken = takeProcess(options, packageDir, { onSignal: stop, onFault: stop });
	if (options.prompt !== null) taken.log.warn("A prompt on the command line is not used by a server.");
	const program = await startProgram(executable, options, { unattended: false }, taken);
	return "exitCode" in program ? program.exitCode : await serveSession(executable, program, stopping.signal);
}

async function serveSession(executable: string, program: Program, signal: AbortSignal): Promise<number> {
	const { session, compatibility, log } = program;
	const server = { name: productName, version: productVersion };
	const serving = serve({ transport: createStdioTransport(), session, server, compatibility, log, signal });
	const end = await serving.ended;
	return await endProgram(executable, program, {
		finish: () => serving.finish(),
		exitCode: () => (process.exitCode === 1 || end === "output-gone" || serving.isOutputGone() ? 1 : 0),
	});
}
