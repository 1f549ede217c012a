import type { SessionHandle } from "../../api/kernel.ts";
import { plainCreation } from "../../api/options.ts";
import type { SessionSnapshot, StoredId } from "../../api/session-state.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError } from "../../base/errors.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { HostApi } from "../shared/dialect.ts";
import { ThreadProjection, TurnCollector } from "./projection.ts";
import { codexProtocolVersion } from "./protocol-version.ts";
import { AttachedThread, type ThreadClient, type ThreadSettings } from "./thread.ts";
import type { ApprovalPolicy, OpenedThread, SandboxMode, SandboxPolicy, Thread } from "./wire.ts";
import type { Turn } from "./wire-items.ts";

const sandboxes: readonly SandboxMode[] = ["read-only", "workspace-write", "danger-full-access"];

export interface CodexPlace {
	readonly home: string;
	readonly sandbox: SandboxMode;
	readonly hasNetwork: boolean;
	/** A session's directory; null if sessions are in a database. */
	directoryOf(session: StoredId): string | null;
}

export interface Wishes {
	readonly model: string | null;
	readonly cwd: string | null;
	readonly approvalPolicy: ApprovalPolicy | null;
	readonly sandbox: SandboxMode | null;
}

export type ThreadStart = Wishes & {
	readonly modelProvider: string | null;
	readonly baseInstructions: string | null;
	readonly developerInstructions: string | null;
	readonly tools: ThreadSettings["tools"];
};

export class Threads {
	readonly #kernelApi: HostApi;
	readonly #peer: Peer;
	readonly #place: CodexPlace;
	readonly #client: () => ThreadClient;
	readonly #attached = new Map<string, AttachedThread>();

	constructor(kernelApi: HostApi, peer: Peer, place: CodexPlace, client: () => ThreadClient) {
		this.#kernelApi = kernelApi;
		this.#peer = peer;
		this.#place = place;
		this.#client = client;
	}

	get(threadId: string): AttachedThread {
		const thread = this.#attached.get(threadId);
		if (thread !== undefined) return thread;
		throw new KernelError("session-not-found", `thread not found: ${threadId}. Open it with thread/resume.`);
	}

	async start(start: ThreadStart): Promise<OpenedThread> {
		const settings = this.#settings(start, start.tools);
		const handle = await this.#kernelApi.sessions.create({
			...plainCreation,
			...(start.cwd === null ? {} : { workDir: start.cwd }),
			...(start.developerInstructions === null ? {} : { instructions: [start.developerInstructions] }),
			model: start.model,
			provider: start.modelProvider,
			systemPrompt: start.baseInstructions,
		});
		return await this.#open(handle, settings, null, false);
	}

	async resume(threadId: string, wishes: Wishes, withTurns: boolean): Promise<OpenedThread> {
		const known = this.#attached.get(threadId);
		const settings = this.#settings(wishes, known?.settings.tools ?? []);
		const handle = await this.#kernelApi.sessions.acquire(threadId);
		return await this.#open(handle, settings, wishes, withTurns);
	}

	async fork(threadId: string, wishes: Wishes, withTurns: boolean): Promise<OpenedThread> {
		const settings = this.#settings(wishes, this.#attached.get(threadId)?.settings.tools ?? []);
		const { id } = await this.#kernelApi.sessions.fork(threadId);
		const handle = await this.#kernelApi.sessions.acquire(id);
		const opened = await this.#open(handle, settings, wishes, withTurns);
		return { ...opened, thread: { ...opened.thread, forkedFromId: threadId } };
	}

	/** Archived threads can be listed, but not opened before `unarchive`. */
	async list(cwd: string | null, cursor: string | null, limit: number | null, isArchived: boolean) {
		const { sessions, next } = await this.#kernelApi.sessions.list({
			...(cwd === null ? {} : { workDir: cwd }),
			...(cursor === null ? {} : { after: cursor }),
			...(limit === null ? {} : { limit }),
		});
		const data = sessions
			.filter(({ archivedAt }) => (archivedAt !== null) === isArchived)
			.map(({ id, workDir, title, updatedAt }) => ({
				...this.#thread({ id, workDir }, title, updatedAt),
				status: { type: "notLoaded" as const },
			}));
		return { data, nextCursor: next };
	}

	async read(threadId: string, withTurns: boolean): Promise<Thread> {
		return await this.using(threadId, async ({ session }) => {
			const snapshot = await session.snapshot();
			return this.#describe(snapshot, withTurns ? await this.#turns(session, snapshot.turnId) : []);
		});
	}

	async using<Result>(threadId: string, work: (handle: SessionHandle) => Promise<Result>): Promise<Result> {
		const attached = this.#attached.get(threadId);
		if (attached !== undefined) return await work(attached.handle);
		const handle = await this.#kernelApi.sessions.acquire(threadId);
		try {
			return await work(handle);
		} finally {
			handle.release();
		}
	}

	/** Files stay as they are. */
	async revert(threadId: string, before: string): Promise<Thread> {
		const { handle } = this.get(threadId);
		await handle.session.send({
			type: "session.rewind",
			before,
			files: false,
			conversation: true,
			conflicts: "skip",
			dryRun: false,
		});
		return await this.read(threadId, true);
	}

	async archive(threadId: string): Promise<void> {
		await this.#kernelApi.sessions.archive(threadId);
		// The client learns how its turn ended.
		await this.#attached.get(threadId)?.drained();
		this.#leave(threadId);
	}

	async unarchive(threadId: string): Promise<Thread> {
		await this.#kernelApi.sessions.unarchive(threadId);
		return await this.read(threadId, false);
	}

	/** Fails for a sandbox stricter than the actual one: the thread could do more than its client believes. */
	checkSandbox(asked: SandboxMode | null): void {
		const { sandbox } = this.#place;
		if (asked === null || sandboxes.indexOf(asked) >= sandboxes.indexOf(sandbox)) return;
		throw new KernelError(
			"unsupported",
			`The sandbox ${asked} is not in force; this server has ${sandbox}. Start it with --config sandbox_mode="${asked}", or set [sandbox] in config.toml.`,
		);
	}

	async drained(): Promise<void> {
		await Promise.all([...this.#attached.values()].map((thread) => thread.drained()));
	}

	leave(): void {
		for (const id of [...this.#attached.keys()]) this.#leave(id);
	}

	#leave(threadId: string): void {
		this.#attached.get(threadId)?.leave();
		this.#attached.delete(threadId);
	}

	#settings({ approvalPolicy, sandbox }: Wishes, tools: ThreadSettings["tools"]): ThreadSettings {
		this.checkSandbox(sandbox);
		return { tools, policy: approvalPolicy ?? "on-request", sandbox: this.#place.sandbox };
	}

	async #open(
		handle: SessionHandle,
		settings: ThreadSettings,
		wishes: Wishes | null,
		withTurns: boolean,
	): Promise<OpenedThread> {
		const { session } = handle;
		const { log } = this.#kernelApi;
		try {
			if (wishes !== null) {
				checkDirectory(session.workDir, wishes.cwd);
				if (wishes.model !== null) await session.send({ type: "model.set", model: wishes.model, thinking: null });
			}
			const earlier = this.#attached.get(session.id) ?? null;
			// Attach again, because the client may have forgotten what it was sent.
			const attached = await AttachedThread.attach(handle, settings, this.#client(), this.#peer, log, earlier);
			earlier?.leave();
			this.#attached.set(session.id, attached);
			const turns = wishes === null ? [] : await attached.readHistory();
			const { model } = attached.snapshot;
			const thread = this.#describe(attached.snapshot, withTurns ? turns : []);
			if (wishes === null) this.#peer.notify("thread/started", { thread });
			attached.begin(this.#kernelApi.clock.now());
			return {
				thread,
				model: model?.alias ?? model?.name ?? "",
				modelProvider: model?.provider ?? "",
				cwd: session.workDir,
				approvalPolicy: settings.policy,
				approvalsReviewer: "user",
				sandbox: this.#policy(),
				reasoningEffort: null,
			};
		} catch (thrown) {
			if (wishes === null) await handle.discard();
			else handle.release();
			throw thrown;
		}
	}

	#describe({ sessionId: id, workDir, title, turnId, model }: SessionSnapshot, turns: readonly Turn[]): Thread {
		const status = turnId === null ? { type: "idle" as const } : { type: "active" as const, activeFlags: [] };
		return {
			...this.#thread({ id, workDir }, title, this.#kernelApi.clock.now()),
			status,
			turns: [...turns],
			modelProvider: model?.provider ?? "",
		};
	}

	async #turns(session: SessionHandle["session"], running: string | null): Promise<Turn[]> {
		const projection = new ThreadProjection(session.id, session.workDir, new Set());
		const collector = new TurnCollector();
		for await (const event of eachOf(session.events())) collector.take(event, projection);
		return collector.turns(running);
	}

	#thread({ id, workDir }: StoredId, title: string | null, updatedAt: number) {
		const seconds = Math.floor(updatedAt / 1000);
		return {
			id,
			sessionId: id,
			preview: title ?? "",
			name: title,
			cwd: workDir,
			createdAt: createdAt(id) ?? seconds,
			updatedAt: seconds,
			modelProvider: "",
			cliVersion: codexProtocolVersion,
			source: "appServer",
			ephemeral: false,
			forkedFromId: null,
			projectId: null,
			path: this.#place.directoryOf({ id, workDir }),
			turns: [],
		} satisfies Omit<Thread, "status">;
	}

	#policy(): SandboxPolicy {
		const { sandbox, hasNetwork: networkAccess } = this.#place;
		switch (sandbox) {
			case "read-only":
				return { type: "readOnly", networkAccess };
			case "workspace-write":
				return { type: "workspaceWrite", writableRoots: [], networkAccess };
			case "danger-full-access":
				return { type: "dangerFullAccess" };
		}
	}
}

export function checkDirectory(workDir: string, asked: string | null): void {
	if (asked === null || asked === workDir) return;
	throw new KernelError("invalid-input", `The thread works in ${workDir}, not in ${asked}.`);
}

/** Seconds since the epoch, from a time-ordered id; null for others. */
function createdAt(id: string): number | null {
	const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
	return digits === null ? null : Math.floor(Number.parseInt(`${digits[1]}${digits[2]}`, 16) / 1000);
}
