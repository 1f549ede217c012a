// Plays a transcript in the test process: kernel, dialects and real tools over a transport in memory.

import path from "node:path";
import type { Identifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { parseClaudeFlags } from "../../../src/cli/arguments/sdk/claude-options.ts";
import { readClaudeOptions } from "../../../src/cli/claude/claude-settings.ts";
import { toCompatibility } from "../../../src/cli/compatibility.ts";
import { createBuiltInSkills, discoverSkills } from "../../../src/core/definitions/skill-discovery.ts";
import { acpDialect } from "../../../src/frontends/acp/dialect.ts";
import { onlyDraftDialect } from "../../../src/frontends/acp/v2/dialect.ts";
import type { ClaudeOptions } from "../../../src/frontends/claude/options.ts";
import { serveClaude } from "../../../src/frontends/claude/serve.ts";
import { createCodexDialect } from "../../../src/frontends/codex/dialect.ts";
import { meerkatDialect } from "../../../src/frontends/meerkat/dialect.ts";
import { type ServeOptions, serve } from "../../../src/frontends/serve/serve.ts";
import type { Account, Compatibility, HostDialect } from "../../../src/frontends/shared/dialect.ts";
import { stdioDialect } from "../../../src/frontends/stdio/dialect.ts";
import { loadAgent } from "../../../src/kernel/compose/agent-file.ts";
import { composeSession } from "../../../src/kernel/compose/compose.ts";
import { findRuleFiles } from "../../../src/kernel/compose/permissions.ts";
import { plainSessionOptions, type SessionOptions } from "../../../src/kernel/compose/session-options.ts";
import { Kernel } from "../../../src/kernel/hosting/kernel.ts";
import { SessionHost } from "../../../src/kernel/hosting/session-host.ts";
import { createSettingsDocuments } from "../../../src/kernel/hosting/settings-documents.ts";
import { Session } from "../../../src/kernel/session/session.ts";
import { createDiskFiles } from "../../../src/ports/files/disk-files.ts";
import { withoutSync } from "../../../src/ports/files/unsynced-files.ts";
import { createProcesses } from "../../../src/ports/processes/children.ts";
import { createDiskStore } from "../../../src/ports/store/disk/disk-store.ts";
import { toSessionDirectory } from "../../../src/ports/store/disk/session-directory.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { createMemoryTransport } from "../../../src/ports/transports/memory.ts";
import { lineLimit, outboxLimit } from "../../../src/ports/transports/stdio.ts";
import { readConfiguration } from "../../../src/settings/config/configuration-reader.ts";
import { readMcpServers } from "../../../src/settings/config/mcp-servers.ts";
import type { Transcript } from "../../../src/testing/transcripts/format.ts";
import { createBindings } from "../../../src/testing/transcripts/placeholders.ts";
import { createHostServices } from "../host/host-services.ts";
import { createInProcessWorkers } from "../host/task-workers.ts";
import { heldSession } from "../store/held-session.ts";
import { createIdleClock, type IdleClock } from "./transcript-clock.ts";
import { createGatedModel, type GatedModel } from "./transcript-gates.ts";
import { preparePlace, sessionId, type TranscriptPlace } from "./transcript-place.ts";
import { playGolden, type StartedServer, type ToComparison, toTheLetter } from "./transcript-play.ts";

const version = "0.0.0-transcript";

/** One that nobody is signed in to; no transcript signs in. */
const account: Account = {
	signIn: () => Promise.reject(new Error("no transcript signs in")),
	signOut: async () => {},
};

const hostDialects = (shareDir: string) => ({
	meerkat: meerkatDialect,
	acp: acpDialect,
	"acp-v2": onlyDraftDialect,
	gateway: stdioDialect,
	codex: createCodexDialect({
		home: shareDir,
		sandbox: "danger-full-access",
		hasNetwork: true,
		directoryOf: (session) => toSessionDirectory(shareDir, session),
	}),
});

/** What a server serves of a kernel: one session, or many. */
export type Served = Pick<ServeOptions, "session" | "host">;

/** The way from the front end to the kernel. */
export type Connect = (served: Served) => Promise<Served>;

/**
 * Plays every conversation of the transcript. Throws at the first difference. `look` sees the sessions afterwards, before their
 * files are gone.
 */
export async function playInMemory(
	transcript: Transcript,
	connect: Connect = async (served) => served,
	toComparison: ToComparison = toTheLetter,
	look: (store: SessionStore) => Promise<void> = async () => {},
): Promise<void> {
	const place = await preparePlace(transcript);
	// A session that is there beforehand is files; otherwise the store in memory is used from run to run.
	const isOnDisk = transcript.isOnDisk || transcript.sessionFiles.size > 0;
	const store = isOnDisk ? createDirectoryStore(place) : createMemoryStore();
	const comparison = toComparison(createBindings({ "work-dir": place.workDir, "share-dir": place.shareDir, version }));
	try {
		for (const moves of transcript.conversations) {
			const { server, close } = await startServer(transcript, place, store, connect);
			try {
				await playGolden(transcript, moves, server, comparison, place.workDir);
			} finally {
				server.closeInput();
				await close();
			}
		}
		await look(store);
	} finally {
		await place.remove();
	}
}

export function createDirectoryStore({ shareDir }: TranscriptPlace): SessionStore {
	const files = withoutSync(createDiskFiles());
	return createDiskStore({ files, shareDir, log: silentLog, clock: createIdleClock().clock, protocolVersion: "1.10" });
}

/** A session opened for a transcript, with what drives it. */
export interface TranscriptSession {
	readonly compatibility: Compatibility;
	/** Null for a server of many sessions. */
	readonly session: Session | null;
	readonly host?: NonNullable<ServeOptions["host"]>;
	readonly idleClock: IdleClock;
	readonly gates: GatedModel | null;
	close(): Promise<void>;
}

export async function openSession(
	transcript: Transcript,
	place: TranscriptPlace,
	store: SessionStore,
	identifiers: Identifiers = createCountingIdentifiers(),
): Promise<TranscriptSession> {
	const idleClock = createIdleClock();
	const files = withoutSync(createDiskFiles());
	const { configuration } = await readConfiguration({ kind: "text", text: place.config }, files, silentLog);
	const environment = { PATH: process.env["PATH"] ?? "", HOME: place.home, ...transcript.environment };
	const compatibility = toCompatibility(configuration.agentwire, null, environment);
	const { clock } = idleClock;
	const workerParts = { files, processes: createProcesses(), environment, clock, log: silentLog };
	const hostServices = createHostServices({
		environment,
		home: place.home,
		shareDir: place.shareDir,
		files,
		processes: createProcesses({ openSink: (file) => files.openAppend(file) }),
		startWorker: createInProcessWorkers(workerParts),
		clock,
		identifiers,
		version,
	});
	const mcpServers = await readMcpServers({ files: [], texts: [], shareDir: place.shareDir }, files, silentLog);
	const agentFile = transcript.agentFile === null ? null : path.join(place.workDir, transcript.agentFile);
	const options: SessionOptions = {
		...plainSessionOptions,
		model: transcript.model,
		yolo: transcript.yolo,
		plan: transcript.plan,
		afk: transcript.afk,
		unattended: false,
		maxSteps: transcript.maxSteps,
		maxAttempts: transcript.maxAttempts,
		mcpServers,
		...(agentFile === null ? {} : { agent: await loadAgent(agentFile, place.workDir, hostServices) }),
	};
	const toHost = (kernel: Kernel, dialect: HostDialect | null) => {
		const { identifiers, log } = hostServices;
		const { home, workDir } = place;
		const sessions = new SessionHost({
			kernel,
			configuration,
			environment,
			workDir,
			options,
			clock,
			identifiers,
			log,
		});
		const documents = createSettingsDocuments({ files, clock, workDir, home });
		return { dialects: dialect === null ? [] : [dialect], account, sessions, documents, clock, identifiers };
	};
	if (transcript.server === "codex-exec") throw new Error("the executable plays it, with a process for each turn");
	if (!transcript.isMemoryOnly) {
		const kernel = new Kernel({ store, configuration, hostServices });
		if (transcript.server !== "session")
			return {
				session: null,
				host: toHost(kernel, transcript.server === "claude" ? null : hostDialects(place.shareDir)[transcript.server]),
				compatibility,
				idleClock,
				gates: null,
				close: () => kernel.close(),
			};
		const session = await kernel.openOrCreate(place.workDir, sessionId, options);
		return { session, compatibility, idleClock, gates: null, close: () => kernel.close() };
	}
	const gates = createGatedModel(transcript.scripts);
	const stored = await store.openOrCreate(place.workDir, sessionId);
	const builtIn = createBuiltInSkills(hostServices.files, hostServices.builtInSkillsDir, hostServices.log);
	const parts = await composeSession(heldSession(stored), options, configuration, hostServices, {
		clientName: () => null,
		findRuleFiles: (workDir) => findRuleFiles(configuration.permission, workDir, hostServices),
		findSkills: (search) => {
			const { extraSkillDirs, mergeAllAvailableSkills: mergeAll } = configuration;
			return discoverSkills({ ...hostServices, ...search, extraSkillDirs, mergeAll, files: search.files(), builtIn });
		},
		readContext: (id) => store.readContext(place.workDir, id),
		withModel: () => Promise.reject(new Error("nobody chooses a model here")),
		serverPool: () => Promise.reject(new Error("there are no servers here")),
		allRunning: new Set(),
	});
	const session = new Session({ ...parts, chosen: { ...parts.chosen, model: gates.model } });
	const close = async () => {
		await session.close(AbortSignal.timeout(1000));
		await hostServices.processes.endAll();
	};
	return { session, compatibility, idleClock, gates, close };
}

export async function startServer(
	transcript: Transcript,
	place: TranscriptPlace,
	store: SessionStore,
	connect: Connect,
): Promise<{ readonly server: StartedServer; close(): Promise<void> }> {
	const { compatibility, idleClock, gates, close, ...served } = await openSession(transcript, place, store);
	const { transport, client } = createMemoryTransport(lineLimit, outboxLimit);
	const connected = await connect(served);
	const parts = { server: { name: "agentwire", version }, log: silentLog };
	const { signal } = new AbortController();
	const serving =
		transcript.server === "claude" && connected.host !== undefined
			? serveClaude(transport, { ...connected.host, ...parts }, await toClaudeOptions(transcript, place), signal)
			: serve({ ...connected, ...parts, transport, compatibility, signal });
	const over = serving.ended.then(async (end) => {
		await serving.finish();
		await close();
		return end === null || end === "input-ended" ? 0 : 1;
	});
	return {
		server: {
			write: client.write,
			closeInput: client.end,
			read: () => idleClock.whileIdle(client.read()),
			// What takes time at the end takes none here.
			exitCode: () => idleClock.whileIdle(over),
			openGate: () => openGate(gates),
		},
		async close() {
			await over;
		},
	};
}

function toClaudeOptions({ words }: Transcript, { workDir, home }: TranscriptPlace): Promise<ClaudeOptions> {
	const formats = ["--input-format", "stream-json", "--output-format", "stream-json"];
	return readClaudeOptions(parseClaudeFlags([...formats, ...words]), { currentDir: workDir, home }, createDiskFiles());
}

function openGate(gates: GatedModel | null): void {
	if (gates === null) throw new Error("only a memory-only transcript has gates");
	gates.open();
}

/** Identifiers of the right form that count. */
export function createCountingIdentifiers(): Identifiers {
	let made = 0;
	const next = (length: number): string => {
		made += 1;
		return made.toString(16).padStart(length, "0");
	};
	return { uuid: () => `00000000-0000-4000-8000-${next(12)}`, hex: (length: number) => next(length) };
}
