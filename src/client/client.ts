import { connectHttp, type HttpOptions } from "./http.ts";
import { Kernel, type KernelOptions } from "./kernel.ts";
import { connectStdio, type SpawnOptions } from "./stdio.ts";

export { Approval, type Ask, Question, type Settled } from "./asks.ts";
export { PeerGone, Refused } from "./errors.ts";
export { type Cursor, cursorOf, type ToolCall, type TurnEvent, type TurnResult, type Usage } from "./events.ts";
export type { HttpOptions } from "./http.ts";
export { Kernel, type KernelOptions, type OpenOptions, type SessionInfo } from "./kernel.ts";
export type { Operations, PublicEvent, SessionAttachParams } from "./protocol-types.ts";
export type { Hook, HookDecision, HookEvent, SessionCallbacks } from "./requests.ts";
export { type PromptFile, type PromptOptions, Session } from "./session.ts";
export type { SpawnOptions } from "./stdio.ts";
export {
	type JsonSchema,
	type OutputOf,
	type Schema,
	type StandardSchema,
	type Tool,
	type ToolContext,
	tool,
} from "./tools.ts";
export type { Attachment, CallName, Transport } from "./transport.ts";
export { Turn } from "./turn.ts";

export type ConnectOptions = KernelOptions &
	(
		| HttpOptions
		| (Omit<SpawnOptions, "command"> & { readonly command?: string | readonly string[]; readonly url?: never })
	);

/** With `url` and `token`, connects to a gateway; otherwise starts the executable. Fails with PeerGone. */
export async function connect(options: ConnectOptions = {}): Promise<Kernel> {
	const transport = options.url === undefined ? await connectStdio(toSpawn(options)) : connectHttp(options);
	const kernel = new Kernel(transport, options);
	try {
		await kernel.info();
	} catch (thrown) {
		await kernel.close();
		throw thrown;
	}
	return kernel;
}

function toSpawn({ command, ...options }: Exclude<ConnectOptions, HttpOptions>): SpawnOptions {
	if (command === undefined) return { ...options, command: bundledCommand() };
	return { ...options, command: typeof command === "string" ? [command] : command };
}

/** The executable of this package, run by this Node if that is the runtime. */
function bundledCommand(): readonly string[] {
	const file = decodeURIComponent(new URL("../../bin/agentwire", import.meta.url).pathname);
	const { execPath } = process;
	return /\bnode(?:\.exe)?$/.test(execPath) ? [execPath, file] : [file];
}
