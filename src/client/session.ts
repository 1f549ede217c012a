import type { Ask, Settled } from "./asks.ts";
import { messageOf, PeerGone, Refused } from "./errors.ts";
import { type Cursor, cursorOf } from "./events.ts";
import type {
	FilesChangesResult,
	InteractionRespondParams,
	ModeSetParams,
	PublicEvent,
	SessionRewindParams,
	SessionRewindResult,
	SessionSnapshotResult,
	TurnStartParams,
} from "./protocol-types.ts";
import { Requests, type SessionCallbacks } from "./requests.ts";
import { type OutputOf, type Schema, toJsonSchema } from "./tools.ts";
import type { Attachment, Transport } from "./transport.ts";
import { Turn, TurnRecord } from "./turn.ts";
import { Turns } from "./turns.ts";

/** A file that goes with a prompt; `data` is its content, or that as base64. */
export interface PromptFile {
	readonly name: string;
	readonly type: string;
	readonly data: Uint8Array | string;
}

export interface PromptOptions<S extends Schema = Schema> {
	readonly files?: readonly PromptFile[];
	/** Identifies the turn: sending the prompt again with the same key does not start another. */
	readonly key?: string;
	/** The form of the answer: `result.output` has it. */
	readonly output?: S;
	/** How many times to ask again for a matching answer. Default: 2. */
	readonly outputRetries?: number;
	/** Further options of the turn, as in the protocol. */
	readonly options?: NonNullable<TurnStartParams["options"]>;
	readonly signal?: AbortSignal;
}

/** Milliseconds between attempts to attach again, and attempts in all. */
const retryTimes = [200, 500, 1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000];

export interface SessionParts {
	readonly transport: Transport;
	readonly id: string;
	readonly workDir: string;
	readonly client: { readonly name: string; readonly version: string | null };
	readonly callbacks: SessionCallbacks;
	/** Called once, when the session is closed. */
	onClosed(session: Session): void;
}

export class Session {
	readonly id: string;
	readonly workDir: string;
	readonly #parts: SessionParts;
	readonly #requests: Requests;
	readonly #turns: Turns;
	#attachment: Attachment | null = null;
	#cursor: Cursor | null = null;
	#gone: PeerGone | null = null;
	readonly #closing = new AbortController();
	readonly #watching = new Set<Attachment>();

	constructor(parts: SessionParts) {
		this.#parts = parts;
		this.id = parts.id;
		this.workDir = parts.workDir;
		this.#requests = new Requests({
			sessionId: parts.id,
			callbacks: parts.callbacks,
			clientId: () => this.#attachment?.state.clientId,
			respond: (interactionId, answer) => this.#respond(interactionId, answer),
		});
		this.#turns = new Turns({
			toAsk: (event) => this.#requests.toAsk(event),
			position: async () => (await this.snapshot()).cursor,
			history: () => this.history(),
		});
	}

	get #isClosed(): boolean {
		return this.#closing.signal.aborted;
	}

	/** For internal use: fails with Refused for a rejected tool. */
	async open(): Promise<void> {
		const attachment = await this.#attach();
		const [refused] = attachment.state.tools.rejected;
		if (refused !== undefined) {
			attachment.close();
			throw new Refused("invalid-input", `The tool ${refused.name} was refused: ${refused.reason}`);
		}
		void this.#follow(attachment);
	}

	/** Iterate it for events, await it for the result. A refused prompt, such as `busy`, is a result with outcome `failed`. */
	prompt<S extends Schema = Schema>(
		input: TurnStartParams["input"],
		{ files = [], key, output, outputRetries = 2, options = {}, signal }: PromptOptions<S> = {},
	): Turn<OutputOf<S>> {
		const record = new TurnRecord();
		const turn = new Turn<OutputOf<S>>(record, { cancel: () => this.cancel(), steer: (text) => this.steer(text) });
		const form = output === undefined ? {} : { answerForm: { schema: toJsonSchema(output), retries: outputRetries } };
		const params = {
			sessionId: this.id,
			input,
			key: key ?? newKey(),
			...(files.length === 0 ? {} : { files: files.map(toSentFile) }),
			options: { ...options, ...form },
		};
		this.#turns.add(record, params.key, output);
		void this.#start(record, params, key !== undefined);
		if (signal !== undefined) cancelOn(signal, turn);
		return turn;
	}

	/** Adds input to the running turn. Fails with Refused, `no-turn`, when none runs. */
	async steer(text: string): Promise<void> {
		await this.#parts.transport.request("turn.steer", { sessionId: this.id, input: text });
	}

	/** Cancels the running turn; false when none ran. */
	async cancel(): Promise<boolean> {
		try {
			await this.#parts.transport.request("turn.cancel", { sessionId: this.id });
			return true;
		} catch (thrown) {
			ignoreOver(thrown);
			return false;
		}
	}

	/** The open approvals and questions. */
	async waiting(): Promise<readonly Ask[]> {
		const { openInteractions } = await this.snapshot();
		return openInteractions.flatMap((event) => this.#requests.toAsk(event as PublicEvent) ?? []);
	}

	snapshot(): Promise<SessionSnapshotResult> {
		return this.#parts.transport.request("session.snapshot", { sessionId: this.id });
	}

	async setMode(mode: ModeSetParams["mode"]): Promise<void> {
		await this.#parts.transport.request("mode.set", { sessionId: this.id, mode });
	}

	/** Chooses the model of the next turns by its alias. */
	async setModel(model: string, { thinking = null }: { readonly thinking?: boolean | null } = {}): Promise<void> {
		await this.#parts.transport.request("model.set", { sessionId: this.id, model, thinking });
	}

	/** The changes of turns and restores in the session's directories, oldest first. */
	async changes(): Promise<FilesChangesResult["turns"]> {
		return (await this.#parts.transport.request("files.changes", { sessionId: this.id })).turns;
	}

	/** With `dryRun`, only previews. Changed files stop it, unless `conflicts` is `skip` or `take`. */
	rewind(params: Omit<SessionRewindParams, "sessionId">): Promise<SessionRewindResult> {
		return this.#parts.transport.request("session.rewind", { ...params, sessionId: this.id });
	}

	async rename(title: string): Promise<void> {
		await this.#parts.transport.request("sessions.rename", { sessionId: this.id, title });
	}

	/** The stored events after a cursor, or from the beginning, as of now. */
	async *history({ after }: { readonly after?: Cursor } = {}): AsyncGenerator<PublicEvent> {
		let from = after;
		for (;;) {
			const page = await this.#parts.transport.request("session.history", {
				sessionId: this.id,
				...(from === undefined ? {} : { after: from }),
			});
			yield* page.events as readonly PublicEvent[];
			if (page.isEnd) return;
			from = page.cursor;
		}
	}

	/** Endless; misses no durable event, even across lost connections. `cursorOf` gives the cursor to continue from. */
	async *events({ after }: { readonly after?: Cursor } = {}): AsyncGenerator<PublicEvent> {
		const { transport } = this.#parts;
		let from = after;
		for (;;) {
			const attachment = await this.#again(() =>
				transport.attach({ sessionId: this.id, ...(from === undefined ? {} : { after: from }) }),
			);
			from ??= attachment.state.snapshot.cursor;
			this.#watching.add(attachment);
			try {
				for await (const batch of attachment.events) {
					for (const event of batch) {
						from = cursorOf(event) ?? from;
						yield event;
					}
				}
				return;
			} catch (thrown) {
				if (!(thrown instanceof PeerGone) || !transport.reconnects) throw thrown;
			} finally {
				attachment.close();
				this.#watching.delete(attachment);
			}
		}
	}

	/** The session stays stored, a running turn continues, and open asks wait for another client. Idempotent. */
	async close(): Promise<void> {
		if (this.#isClosed) return;
		this.#closing.abort();
		this.#attachment?.close();
		for (const attachment of this.#watching) attachment.close();
		this.#requests.close();
		this.lose(new PeerGone("The session was closed by the client."));
		this.#parts.onClosed(this);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}

	/** For internal use: no more events will come. */
	lose(error: PeerGone): void {
		this.#gone ??= error;
		this.#turns.lose(this.#gone);
	}

	/** `isNamed`: the key comes from the program and may have started a turn earlier. */
	async #start(turn: TurnRecord, params: TurnStartParams, isNamed: boolean): Promise<void> {
		let attempts = 0;
		try {
			if (this.#gone !== null) throw this.#gone;
			const { turnId } = await this.#again(() => {
				attempts += 1;
				return this.#parts.transport.request("turn.start", params);
			});
			if (isNamed || attempts > 1) await this.#turns.join(turn, turnId);
		} catch (thrown) {
			this.#turns.remove(turn);
			if (thrown instanceof Refused) turn.fail({ code: thrown.code, message: thrown.message });
			else turn.lose(toGone(thrown));
		}
	}

	async #attach(): Promise<Attachment> {
		const { transport, client } = this.#parts;
		const before = this.#attachment?.state.clientId;
		const attachment = await transport.attach({
			sessionId: this.id,
			client,
			answers: true,
			...this.#requests.offers(),
			...(before === undefined ? {} : { replaces: before }),
			...(this.#cursor === null ? {} : { after: this.#cursor }),
		});
		this.#attachment = attachment;
		if (this.#cursor === null) {
			for (const event of attachment.state.snapshot.openInteractions) this.#take(event as PublicEvent);
		}
		if (this.#cursor === null) this.#turns.reach(attachment.state.snapshot.cursor);
		this.#cursor ??= attachment.state.snapshot.cursor;
		return attachment;
	}

	/** Takes the events until the session is closed or permanently lost. */
	async #follow(first: Attachment): Promise<void> {
		let attachment = first;
		for (;;) {
			try {
				for await (const batch of attachment.events) for (const event of batch) this.#take(event);
				if (!this.#isClosed) this.lose(new PeerGone("The server closed the session."));
				return;
			} catch (thrown) {
				if (this.#isClosed) return;
				if (!this.#parts.transport.reconnects) {
					this.lose(toGone(thrown));
					return;
				}
				try {
					attachment = await this.#again(() => this.#attach());
				} catch (final) {
					this.lose(toGone(final));
					return;
				}
			}
		}
	}

	/** Retries while the server is unreachable, if the transport can reconnect. */
	async #again<T>(attempt: () => Promise<T>): Promise<T> {
		for (const wait of this.#parts.transport.reconnects ? retryTimes : []) {
			try {
				return await attempt();
			} catch (thrown) {
				if (!(thrown instanceof PeerGone) || this.#isClosed) throw thrown;
				await pause(wait, this.#closing.signal);
			}
		}
		return await attempt();
	}

	#take(event: PublicEvent): void {
		this.#cursor = cursorOf(event) ?? this.#cursor;
		this.#turns.take(event);
		if (event.type === "interaction.requested") this.#requests.take(event);
		if (event.type === "interaction.resolved") this.#requests.settle(event.interactionId);
		try {
			this.#parts.callbacks.onEvent?.(event);
		} catch (thrown) {
			console.error("agentwire: onEvent failed:", thrown);
		}
	}

	async #respond(interactionId: string, answer: InteractionRespondParams["answer"]): Promise<Settled> {
		const clientId = this.#attachment?.state.clientId;
		return await this.#again(() =>
			this.#parts.transport.request("interaction.respond", {
				sessionId: this.id,
				interactionId,
				answer,
				...(clientId === undefined ? {} : { clientId }),
			}),
		);
	}
}

function toGone(thrown: unknown): PeerGone {
	return thrown instanceof PeerGone ? thrown : new PeerGone(messageOf(thrown));
}

/** `crypto.randomUUID` exists only in secure contexts. */
function newKey(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		signal.addEventListener("abort", end);
	});
}

/** An ended turn cannot be cancelled and need not be. */
function ignoreOver(thrown: unknown): void {
	if (!(thrown instanceof Refused) || thrown.code !== "no-turn") throw thrown;
}

function cancelOn<Output>(signal: AbortSignal, turn: Turn<Output>): void {
	const cancel = () => void turn.cancel().catch(() => {});
	if (signal.aborted) cancel();
	signal.addEventListener("abort", cancel, { once: true });
	const withdraw = () => signal.removeEventListener("abort", cancel);
	turn.then(withdraw, withdraw);
}

function toSentFile({ name, type, data }: PromptFile): {
	readonly name: string;
	readonly type: string;
	readonly data: string;
} {
	return { name, type, data: typeof data === "string" ? data : toBase64(data) };
}

function toBase64(bytes: Uint8Array): string {
	let binary = "";
	for (let start = 0; start < bytes.length; start += 32_768) {
		binary += String.fromCharCode(...bytes.subarray(start, start + 32_768));
	}
	return btoa(binary);
}
