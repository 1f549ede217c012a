// The server of one session in this process for the crash campaign: Kimi Wire or legacy over a kernel on files in memory, and
// an MCP server where a script has one.

import type { LocalMcpServer } from "../../../src/api/mcp-servers.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import { isRecord } from "../../../src/base/json.ts";
import { silentLog } from "../../../src/base/log.ts";
import { serve } from "../../../src/frontends/serve/serve.ts";
import { noCompatibility } from "../../../src/frontends/shared/dialect.ts";
import { plainSessionOptions } from "../../../src/kernel/compose/session-options.ts";
import type { Files } from "../../../src/ports/files/port.ts";
import type { Processes } from "../../../src/ports/processes/port.ts";
import { createMemoryTransport } from "../../../src/ports/transports/memory.ts";
import { createProgram } from "../../support/mcp/mcp-program.ts";
import type { Part } from "../frame/life.ts";
import { type LifeWorld, type MemoryServer, sessionDirectory, shareDir, workDir } from "../frame/memory-life.ts";
import { placeholders } from "./crash-scenarios.ts";

export function sessionId(index: number): string {
	return `00000000-0000-4000-8000-00000000000${index}`;
}

/** The model of a part whose session has the MCP server. */
export const servedModel = "served";

export async function serveWire(
	world: LifeWorld,
	{ models }: Part,
	index: number,
	note: (line: string) => void,
): Promise<MemoryServer> {
	const id = sessionId(index);
	const filled = JSON.parse(await fillPlaceholders(JSON.stringify(models), world.files, id)) as Part["models"];
	// Connecting would end now before the first turn and now in it: the turn always waits for it.
	const waiting = createDeferred<void>();
	const noteRun = (text: string): boolean => world.noteRun(id, text);
	const processes = withProgram(world.processes, waiting.promise, noteRun);
	const { kernel } = await world.createKernel(filled, index, processes);
	const mcpServers = servedModel in models ? [serverSettings] : [];
	const session = await kernel.openOrCreate(workDir, id, { ...plainSessionOptions, mcpServers });
	const { transport, client } = createMemoryTransport(100 * 1024 * 1024, 1024 * 1024);
	const send = (line: string): void => {
		note(line);
		if (line.includes('"MCPLoadingBegin"')) waiting.resolve();
		transport.send(line);
	};
	const serving = serve({
		transport: { ...transport, send },
		session,
		server: { name: "agentwire", version: "0.0.0" },
		compatibility: noCompatibility,
		log: silentLog,
		signal: new AbortController().signal,
	});
	return { client, finish: () => serving.finish() };
}

/** Fills the placeholders of a model's answers from the session's files as they are. */
async function fillPlaceholders(answers: string, files: Files, id: string): Promise<string> {
	const state = (await files.read(`${sessionDirectory(id)}/state.json`))?.toString() ?? "";
	const slug = /"plan_slug": "([^"]+)"/.exec(state)?.[1] ?? "no-plan";
	const agents = `${sessionDirectory(id)}/subagents`;
	const names = (await files.status(agents)) === null ? [] : await files.list(agents);
	return answers
		.replaceAll(placeholders.planFile, `${shareDir}/plans/${slug}.md`)
		.replaceAll(placeholders.agentId, names[0]?.name ?? "none");
}

/** The MCP server of a session, as settings name it: a program that `withProgram` plays. */
const serverSettings: LocalMcpServer = {
	kind: "local",
	name: "notes",
	command: "notes",
	arguments: [],
	environment: {},
	workDir: null,
	callTimeout: null,
	filter: { names: null, hidden: [], includeTags: null, excludeTags: [] },
};

/**
 * A program with a conversation is the MCP server. It starts once `begun` resolves; `note` is given what it was called with,
 * and says whether it may answer.
 */
function withProgram(processes: Processes, begun: Promise<void>, note: (text: string) => boolean): Processes {
	const { processes: programs } = createProgram({
		tools: [{ name: "note", inputSchema: { type: "object", properties: { text: { type: "string" } } } }],
		call({ arguments: given }, run) {
			const { text, dies } = isRecord(given) ? given : {};
			if (!note(String(text))) return null;
			if (dies === true) run.exit({ kind: "signalled", signal: "SIGKILL" });
			return { content: [{ type: "text", text: `noted ${text}` }] };
		},
	});
	return {
		...processes,
		async run(request, signal) {
			if (request.conversation === undefined) return await processes.run(request, signal);
			await begun;
			return await programs.run(request, signal);
		},
	};
}
