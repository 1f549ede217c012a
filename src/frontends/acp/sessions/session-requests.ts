// Session requests for all protocol versions: each works on one session, and none waits for another session.

import type { SessionHandle } from "../../../api/kernel.ts";
import { plainCreation } from "../../../api/options.ts";
import type { OpeningOptions } from "../../../api/session-options.ts";
import { inputText, type UserInput } from "../../../api/values/content.ts";
import type { TurnOutcome } from "../../../api/values/event.ts";
import type { Rewound } from "../../../api/values/file-changes.ts";
import { readSideQuestion } from "../../../api/values/slash-command.ts";
import { KernelError } from "../../../base/errors.ts";
import { createKeyedQueue } from "../../../base/keyed-queue.ts";
import { undo } from "../../../base/log.ts";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { RpcId } from "../../../ports/rpc/envelope.ts";
import type { HostApi } from "../../shared/dialect.ts";
import { toThrown } from "../../shared/error-numbers.ts";
import type { CancellableRequests } from "../cancellable-requests.ts";
import { toInput } from "../content.ts";
import { type ClientFiles, createClientFiles } from "../editor-files.ts";
import { unknownSession, withAdvice } from "../errors.ts";
import { toMcpServers } from "../mcp-servers.ts";
import { advised } from "../sign-in.ts";
import { stopReasonOf } from "../stop-reason.ts";
import type {
	ForkSessionParams,
	OpenSessionParams,
	PromptParams,
	PromptResult,
	RewindParams,
	SteeringResult,
	StopReason,
} from "../wire.ts";
import type { AttachedClient, AttachedSession } from "./attached-session.ts";
import { AttachedSessions } from "./attached-sessions.ts";
import type { Choices } from "./choices.ts";
import { type Prompt, Prompts } from "./prompts.ts";

const pageSize = 50;

const messageSuffix = /-.*$/s;

const cancelled: PromptResult = { stopReason: "cancelled" };

export type Workspace = Omit<OpenSessionParams, "sessionId">;

type Answer = (sessionId: string, choices: Choices) => void;

export class SessionRequests {
	readonly #kernelApi: HostApi;
	readonly #peer: Peer;
	readonly #client: () => AttachedClient;
	readonly #requests: CancellableRequests;
	readonly #attached: AttachedSessions;
	readonly #prompts = new Map<string, Prompts>();
	/** By session: requests are handled in order of arrival. A turn has begun before its cancellation is handled. */
	readonly #order = createKeyedQueue();
	readonly #gone = new AbortController();

	constructor(kernelApi: HostApi, peer: Peer, client: () => AttachedClient, requests: CancellableRequests) {
		this.#kernelApi = kernelApi;
		this.#peer = peer;
		this.#client = client;
		this.#requests = requests;
		this.#attached = new AttachedSessions(kernelApi, peer, client, this.#gone.signal);
	}

	leave(): void {
		this.#gone.abort();
		for (const prompts of this.#prompts.values()) prompts.withdrawWaiting();
		this.#attached.detachAll();
	}

	async drained(): Promise<void> {
		await this.#attached.drained();
	}

	async create(params: Workspace, answer: Answer): Promise<void> {
		const { sessions } = this.#kernelApi;
		const { files, opening } = this.#toOpening(params);
		const handle = await advised(() => sessions.create({ ...plainCreation, ...opening, workDir: params.cwd }));
		const sessionId = handle.session.id;
		const attach = async () => {
			const attached = await this.#attached.attach(handle);
			// The client gets its id, and may load it in a later process before prompting.
			await handle.session.send({ type: "session.establish" });
			return attached;
		};
		const attached = await attach().catch(async (thrown: unknown) => {
			const discard = () => handle.discard();
			await undo(discard, "A session that nobody could be attached to was not removed.", this.#kernelApi.log);
			throw thrown;
		});
		answer(sessionId, attached.choices);
		files?.begin(sessionId);
		attached.begin();
		await attached.sendCommands().finally(() => handle.release());
	}

	open(params: OpenSessionParams, replays: boolean, answer: Answer, id: RpcId | null): Promise<void> {
		const show = async (attached: AttachedSession, signal: AbortSignal) => {
			if (replays) await attached.replay(signal);
			else await attached.recall();
			attached.sendState();
		};
		return this.#open(params, show, answer, id);
	}

	#open(
		params: OpenSessionParams,
		show: (attached: AttachedSession, signal: AbortSignal) => Promise<void>,
		answer: Answer,
		id: RpcId | null,
	): Promise<void> {
		const { sessionId } = params;
		return this.#requests.run(id, (signal) =>
			this.#order.run(sessionId, async () => {
				const { files, opening } = this.#toOpening(params);
				const handle = await this.#acquire(sessionId, opening);
				try {
					const known = this.#attached.get(handle.session);
					const attached = await (known ?? this.#attached.attach(handle));
					const showAndAnswer = async () => {
						await show(attached, signal);
						answer(sessionId, attached.choices);
						files?.begin(sessionId);
						attached.sendRecalledCalls();
					};
					if (known === undefined) {
						await this.#attached.orDetach(handle.session, showAndAnswer);
						attached.begin();
					} else await attached.renew(showAndAnswer);
					await attached.sendCommands();
				} finally {
					handle.release();
				}
			}),
		);
	}

	async fork({ sessionId, ...workspace }: ForkSessionParams, answer: Answer, id: RpcId | null): Promise<void> {
		const { sessions } = this.#kernelApi;
		const options = { workDir: workspace.cwd, isOpenedAnew: true };
		const { id: forkId } = await this.#order.run(sessionId, () =>
			this.#known(sessionId, () => sessions.fork(sessionId, options)),
		);
		try {
			// Before the answer the client does not know the id, so nothing is sent about it. No turn runs in it.
			await this.#open({ ...workspace, sessionId: forkId }, (attached) => attached.recall(), answer, id);
		} catch (thrown) {
			// The client does not know it.
			await sessions.delete(forkId);
			throw thrown;
		}
	}

	async list({ cwd, cursor }: { readonly cwd: string | null; readonly cursor: string | null }) {
		const { sessions, next } = await this.#kernelApi.sessions.list({
			...(cwd === null ? {} : { workDir: cwd }),
			...(cursor === null ? {} : { after: cursor }),
			limit: pageSize,
			withUnused: true,
		});
		const shown = sessions.filter(({ archivedAt }) => archivedAt === null);
		return {
			sessions: shown.map(({ id, workDir, title, updatedAt }) => ({
				sessionId: id,
				cwd: workDir,
				title,
				updatedAt: new Date(updatedAt).toISOString(),
			})),
			...(next === null ? {} : { nextCursor: next }),
		};
	}

	async delete(id: string): Promise<void> {
		await this.#leave(id, () => this.#kernelApi.sessions.delete(id));
	}

	async close(id: string): Promise<void> {
		const { sessions } = this.#kernelApi;
		await this.#leave(id, async () => {
			const attached = await this.#attached.detach(id);
			if (!attached) (await this.#lookAt(id))?.release();
			await this.#discardUnused(id);
			await sessions.unload(id);
		});
	}

	/** Deletes an unused session when its client closes it. Keeps it if it cannot be loaded for the check. */
	async #discardUnused(id: string): Promise<void> {
		const { sessions } = this.#kernelApi;
		if (!(await sessions.loaded()).some((info) => info.id === id)) return;
		const handle = await this.#lookAt(id);
		if (handle === null) return;
		const { cursor, title, clients } = await handle.session.snapshot().finally(() => handle.release());
		if (cursor.seq === 0 && title === null && clients.length === 0) await sessions.delete(id);
	}

	/** Null if there is no room to load it. Fails with `session-not-found` for a missing session. */
	async #lookAt(id: string): Promise<SessionHandle | null> {
		try {
			return await this.#acquire(id);
		} catch (thrown) {
			if (thrown instanceof KernelError && thrown.code === "overloaded") return null;
			throw thrown;
		}
	}

	/** Prompts of one session run one after another; side questions run concurrently. */
	async prompt(
		{ sessionId, prompt: blocks }: PromptParams,
		signal: AbortSignal,
		begun: (messageId: string) => void = () => {},
	): Promise<PromptResult> {
		const input = toInput(blocks);
		if (this.#gone.signal.aborted) return cancelled;
		const prompts = this.#promptsOf(sessionId);
		const watch = (prompt: Prompt) => {
			const withdraw = () => {
				prompts.withdraw(prompt);
				if (prompt.isRunning) void this.#interrupt(sessionId);
			};
			if (signal.aborted) withdraw();
			else signal.addEventListener("abort", withdraw, { once: true });
		};
		// Other prompts are queued at once, so that a following cancellation reaches them.
		const question = prompts.isBusy ? readSideQuestion(inputText(input)) : null;
		const running =
			question === null
				? prompts.run((prompt) => this.#runTurn(sessionId, input, prompt, begun), cancelled, watch)
				: prompts.runConcurrently(
						(prompt) => this.#askSideQuestion(sessionId, question, prompt, begun),
						cancelled,
						watch,
					);
		return await running.finally(() => {
			if (prompts.isEmpty && this.#prompts.get(sessionId) === prompts) this.#prompts.delete(sessionId);
		});
	}

	async #runTurn(
		sessionId: string,
		input: UserInput,
		prompt: Prompt,
		begun: (messageId: string) => void,
	): Promise<PromptResult> {
		const started = await this.#order.run(sessionId, async () => {
			const handle = await this.#acquire(sessionId);
			try {
				const attached = await this.#attached.to(handle);
				if (!prompt.isCancelled) return { handle, attached, ...(await attached.start(handle, input)) };
				handle.release();
				return null;
			} catch (thrown) {
				handle.release();
				throw thrown;
			}
		});
		if (started === null) return cancelled;
		const { handle, attached, messageId, ended } = started;
		void started.begun.then(() => begun(messageId));
		try {
			// A cancellation may have come while the turn began.
			if (prompt.isCancelled) void this.#interrupt(sessionId);
			const outcome = await ended;
			await attached.sendTitle();
			return { stopReason: toStopReason(outcome, prompt, attached) };
		} finally {
			handle.release();
		}
	}

	async #askSideQuestion(
		sessionId: string,
		question: string,
		prompt: Prompt,
		begun: (messageId: string) => void,
	): Promise<PromptResult> {
		const asked = await this.using(sessionId, (attached) => attached.askSideQuestion(question));
		const { messageId, ended, dismiss } = asked;
		begun(messageId);
		void prompt.withdrawn.promise.then(dismiss).catch((thrown: unknown) => {
			this.#kernelApi.log.debug("A side question was not cancelled.", { session: sessionId, error: thrown });
		});
		await ended;
		return { stopReason: "end_turn" };
	}

	async cancel(id: string): Promise<void> {
		const prompts = this.#prompts.get(id);
		// Without a prompt, nothing of this client runs in the session.
		if (prompts === undefined) return;
		prompts.cancel();
		if (prompts.isBusy) await this.#interrupt(id);
	}

	#interrupt(id: string): Promise<void> {
		return this.#order.run(id, () => this.#interruptNow(id));
	}

	async #interruptNow(id: string): Promise<void> {
		try {
			await this.#kernelApi.sessions.interrupt(id);
		} catch (thrown) {
			// It may have ended by itself.
			this.#kernelApi.log.debug("A turn was not cancelled.", { session: id, error: thrown });
		}
	}

	/** Runs `work` once all earlier prompts of the session are canceled and about to be answered; later ones wait for it. */
	async #leave(id: string, work: () => Promise<unknown>): Promise<void> {
		const prompts = this.#prompts.get(id);
		prompts?.cancel();
		const ended = prompts?.ended();
		await this.#order.run(id, async () => {
			if (prompts?.isBusy === true) await this.#interruptNow(id);
			await ended;
			await work();
		});
	}

	async steer({ sessionId, prompt }: PromptParams): Promise<SteeringResult> {
		const input = toInput(prompt);
		// After earlier prompts, because one of their turns may be about to begin.
		return await this.#order.run(sessionId, async () => {
			const handle = await this.#acquire(sessionId);
			try {
				await handle.session.send({ type: "turn.steer", input });
				return { outcome: "injected" };
			} catch (thrown) {
				if (thrown instanceof KernelError && thrown.code === "no-turn") return { outcome: "promptRequired" };
				throw thrown;
			} finally {
				handle.release();
			}
		});
	}

	async rewind({ sessionId, messageId, ...choices }: RewindParams): Promise<Rewound> {
		const before = messageId.replace(messageSuffix, "");
		return await this.#order.run(sessionId, async () => {
			const handle = await this.#acquire(sessionId);
			try {
				return await handle.session.send({ type: "session.rewind", before, ...choices });
			} finally {
				handle.release();
			}
		});
	}

	using<T>(id: string, work: (attached: AttachedSession) => Promise<T>): Promise<T> {
		return this.#order.run(id, async () => {
			const handle = await this.#acquire(id);
			try {
				const attached = await this.#attached.to(handle);
				const result = await work(attached);
				await attached.shown();
				return result;
			} finally {
				handle.release();
			}
		});
	}

	#acquire(id: string, opening: OpeningOptions = {}): Promise<SessionHandle> {
		return this.#known(id, () => this.#kernelApi.sessions.acquire(id, opening));
	}

	async #known<T>(id: string, work: () => Promise<T>): Promise<T> {
		try {
			return await advised(work);
		} catch (thrown) {
			throw thrown instanceof KernelError && thrown.code === "session-not-found" ? unknownSession(id) : thrown;
		}
	}

	#promptsOf(id: string): Prompts {
		const known = this.#prompts.get(id);
		if (known !== undefined) return known;
		const created = new Prompts();
		this.#prompts.set(id, created);
		return created;
	}

	#toOpening(params: Workspace): { readonly files: ClientFiles | null; readonly opening: OpeningOptions } {
		const { sessions, identifiers } = this.#kernelApi;
		const files = sessions.takesEditorFiles
			? createClientFiles(this.#client().capabilities, this.#peer, identifiers, this.#gone.signal)
			: null;
		const opening: OpeningOptions = {
			addedMcpServers: toMcpServers(params.mcpServers),
			additionalDirs: params.additionalDirectories,
			...(files === null ? {} : { editorFiles: files.port }),
		};
		return { files, opening };
	}
}

function toStopReason(outcome: TurnOutcome, { isCancelled }: Prompt, attached: AttachedSession): StopReason {
	const reason = stopReasonOf(outcome);
	if (outcome.status !== "failed") return reason ?? "end_turn";
	// A cancellation is never answered as an error.
	if (isCancelled) return "cancelled";
	if (reason === null) throw withAdvice(toThrown(outcome.error));
	const title = reason === "refusal" ? "The provider refused to answer" : "The budget is used up";
	attached.sendReport(title, outcome.error.message);
	return reason;
}
