import type { Attachment, SessionApi, SessionHandle } from "../../../api/kernel.ts";
import type { AttachOptions } from "../../../api/session-options.ts";
import type { SessionDescription } from "../../../api/session-state.ts";
import type { UserInput } from "../../../api/values/content.ts";
import type { AgentEvent, Cursor, TurnOutcome } from "../../../api/values/event.ts";
import { toSessionMode } from "../../../api/values/session-mode.ts";
import { createDeferred, type Deferred } from "../../../base/deferred.ts";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { HostApi } from "../../shared/dialect.ts";
import { EventPump, type Outgoing } from "../../shared/event-pump.ts";
import type { Codec } from "../codec.ts";
import { RequestCancelledError } from "../errors.ts";
import { toRequest } from "../interactions/requests.ts";
import { Projection } from "../projection.ts";
import { createUpdateLines, type UpdateLines } from "../update-lines.ts";
import type { ClientCapabilities, InitializeParams } from "../wire.ts";
import type { Update } from "../wire-updates.ts";
import { Choices } from "./choices.ts";

export interface AttachedClient {
	readonly capabilities: ClientCapabilities;
	readonly info: InitializeParams["clientInfo"];
	createCodec(): Codec;
}

export interface ClientSide {
	readonly kernelApi: HostApi;
	readonly peer: Peer;
	client(): AttachedClient;
	/** Aborts when the client disconnects. */
	readonly gone: AbortSignal;
}

export interface StartedTurn {
	/** Names the prompt among the session's messages. */
	readonly messageId: string;
	/** Resolves when the turn's beginning is about to be sent. */
	readonly begun: Promise<void>;
	/** Resolves once all its updates are in the outbox. */
	readonly ended: Promise<TurnOutcome>;
}

type CommandsUpdate = Extract<Update, { sessionUpdate: "available_commands_update" }>;

export class AttachedSession {
	readonly choices: Choices;
	/** Resolves when sending the session's events has begun. */
	readonly begun: Promise<void>;
	readonly #begin = createDeferred<void>();
	readonly #session: SessionApi;
	readonly #peer: Peer;
	readonly #clock: HostApi["clock"];
	readonly #client: AttachedClient;
	readonly #pump: EventPump;
	readonly #toLine: UpdateLines;
	readonly #ownTurns = new Set<string>();
	readonly #beginnings = new Map<string, Deferred<void>>();
	/** Canceled side questions, whose answers are dropped. */
	readonly #dismissed = new Set<string>();
	#attachment: Attachment;
	#projection: Projection;
	#codec: Codec;
	#starting = 0;
	#title: string | null;
	#owesCalls = false;

	private constructor(
		session: SessionApi,
		attachment: Attachment,
		description: SessionDescription,
		client: AttachedClient,
		{ kernelApi, peer }: ClientSide,
	) {
		const { snapshot } = attachment;
		this.choices = new Choices(session, description, client.capabilities.session.configOptions.boolean, {
			mode: toSessionMode(snapshot),
			model: snapshot.model,
		});
		this.begun = this.#begin.promise;
		this.#session = session;
		this.#peer = peer;
		this.#clock = kernelApi.clock;
		this.#client = client;
		this.#attachment = attachment;
		this.#projection = this.#newProjection();
		this.#codec = client.createCodec();
		this.#toLine = createUpdateLines(session.id);
		this.#title = snapshot.title;
		this.#pump = new EventPump(session, peer, (event) => this.#project(event), kernelApi.log);
	}

	/** Attaches the client. Sends nothing before `begin`. */
	static async attach({ session }: SessionHandle, side: ClientSide): Promise<AttachedSession> {
		const client = side.client();
		const description = await session.send({ type: "session.describe" });
		const attachment = await session.attach(toAttachOptions(client));
		return new AttachedSession(session, attachment, description, client, side);
	}

	/** Reattaches the client without its state; `work` runs between the events of the two attachments. */
	async renew(work: () => Promise<void>): Promise<void> {
		const shown = createDeferred<void>();
		const attach = () => this.#session.attach({ ...toAttachOptions(this.#client), replaces: this.#attachment.id });
		await this.#pump.replace(attach, async (attachment) => {
			const { snapshot } = attachment;
			this.#attachment = attachment;
			this.#projection = this.#newProjection();
			this.#codec = this.#client.createCodec();
			this.#title = snapshot.title;
			this.choices.noteMode(toSessionMode(snapshot));
			if (snapshot.model !== null) this.choices.noteModel(snapshot.model);
			await work().then(shown.resolve, shown.reject);
		});
		await shown.promise;
	}

	/** Sends the conversation so far. Fails if the signal aborts, but still processes the rest, because a turn may continue. */
	async replay(signal: AbortSignal): Promise<void> {
		const { cursor, unfinished, turnId } = this.#attachment.snapshot;
		this.#projection.isReplay = true;
		for await (const events of this.#storedUntil(cursor)) {
			for (const event of events) {
				const updates = this.#projection.take(event);
				if (updates.length === 0 || signal.aborted) continue;
				this.#sendAll(updates);
				if (this.#peer.isFull()) await this.#peer.ready();
			}
		}
		this.#projection.isReplay = false;
		if (signal.aborted) throw new RequestCancelledError();
		// No turn runs, so open items were cut off.
		if (turnId === null) this.#sendAll(this.#projection.endUnfinished());
		const now = { sessionId: this.#session.id, turnId, at: this.#clock.now() };
		for (const part of unfinished) this.#sendAll(this.#projection.take({ ...now, ...part }));
		this.#sendAll(this.#projection.usage.update());
	}

	sendState(): void {
		const { turnId, openInteractions } = this.#attachment.snapshot;
		const running = openInteractions.length > 0 ? "requires_action" : "running";
		this.#notifyAll(this.#codec.encodeState(turnId === null ? "idle" : running));
	}

	/** Reads the session's cost and the running turn from the history, so that later updates can refer to them. */
	async recall(): Promise<void> {
		const { cursor, unfinished, turnId } = this.#attachment.snapshot;
		const price = this.choices.model?.price ?? null;
		if (price === null && turnId === null) return;
		this.#projection.isReplay = true;
		for await (const events of this.#storedUntil(cursor)) for (const event of events) this.#projection.take(event);
		this.#projection.isReplay = false;
		if (turnId === null) this.#projection.endUnfinished();
		const now = { sessionId: this.#session.id, turnId, at: this.#clock.now() };
		for (const part of unfinished) this.#projection.take({ ...now, ...part });
		this.#owesCalls = true;
	}

	/** Sends the open calls after `recall`, because the client may not have received them. */
	sendRecalledCalls(): void {
		if (this.#owesCalls) this.#sendAll(this.#projection.calls.current());
		this.#owesCalls = false;
	}

	begin(): void {
		this.#pump.carry(this.#attachment);
		this.#begin.resolve();
	}

	async commands(): Promise<CommandsUpdate["availableCommands"]> {
		const { slashCommands } = await this.#session.send({ type: "session.describe" });
		return slashCommands.map(({ name, description }) => ({ name, description, input: { hint: "optional" } }));
	}

	async sendCommands(): Promise<void> {
		this.#sendAll([{ sessionUpdate: "available_commands_update", availableCommands: await this.commands() }]);
	}

	async start(handle: SessionHandle, input: UserInput): Promise<StartedTurn> {
		this.#starting += 1;
		try {
			const { turnId, ended: outcome } = await this.#pump.follow(async () => (await handle.startTurn(input)).turnId);
			const begun = this.#beginningOf(turnId);
			const ended = outcome.finally(() => {
				this.#ownTurns.delete(turnId);
				this.#beginnings.delete(turnId);
			});
			this.#ownTurns.add(turnId);
			return { messageId: `${turnId}-u`, begun: begun.promise, ended };
		} finally {
			this.#starting -= 1;
		}
	}

	/** Its answer is in the outbox when `ended` resolves, unless it was dismissed, which stops its model request. */
	async askSideQuestion(question: string): Promise<{
		readonly messageId: string;
		readonly ended: Promise<void>;
		dismiss(): Promise<void>;
	}> {
		const { id } = await this.#session.send({ type: "side-question.start", question });
		const dismiss = async () => {
			this.#dismissed.add(id);
			await this.#session.send({ type: "side-question.cancel", id });
		};
		return { messageId: `${id}-u`, ended: this.#pump.sideQuestionEnded(id), dismiss };
	}

	async sendTitle(): Promise<void> {
		const { title } = await this.#session.snapshot();
		if (title === null || title === this.#title) return;
		this.#title = title;
		const updatedAt = new Date(this.#clock.now()).toISOString();
		this.#sendAll([{ sessionUpdate: "session_info_update", title, updatedAt }]);
	}

	sendReport(title: string, text: string): void {
		this.#sendAll(this.#projection.report("warning", title, text, `${this.#projection.messageId}-end`));
	}

	/** Resolves when all current events were sent, so that a request's changes are shown before its answer. */
	shown(): Promise<void> {
		return this.#attachment.drained();
	}

	drained(): Promise<void> {
		return this.#pump.drained();
	}

	detach(): void {
		this.#attachment.close();
	}

	async *#storedUntil({ seq: last }: Cursor): AsyncGenerator<readonly AgentEvent[]> {
		for await (const events of this.#session.events()) {
			if ((events.at(-1)?.seq ?? 0) <= last) {
				yield events;
				continue;
			}
			const wanted = events.filter(({ seq = 0 }) => seq <= last);
			yield wanted;
			if (wanted.length < events.length) return;
		}
	}

	#newProjection(): Projection {
		return new Projection({
			workDir: this.#session.workDir,
			client: this.#client.capabilities,
			isOwnInput: (turnId) => !this.#codec.echoesPrompts && this.#isOwn(turnId),
			echoesPrompts: () => this.#codec.echoesPrompts,
			price: () => this.choices.model?.price ?? null,
		});
	}

	#isOwn(turnId: string | null): boolean {
		return this.#starting > 0 || (turnId !== null && this.#ownTurns.has(turnId));
	}

	#beginningOf(turnId: string): Deferred<void> {
		const beginning = this.#beginnings.get(turnId) ?? createDeferred<void>();
		this.#beginnings.set(turnId, beginning);
		return beginning;
	}

	#project(event: AgentEvent): readonly Outgoing[] | string {
		const { body, turnId } = event;
		if (body.type === "turn.started" && turnId !== null && this.#isOwn(turnId)) this.#beginningOf(turnId).resolve();
		const updates = this.#toUpdates(event);
		const sent = this.#codec.encodeEvent(event, updates);
		if (body.type === "content.delta" && updates[0] !== undefined) {
			const line = sent.length === 1 && sent[0] === updates[0] ? this.#toLine(updates[0]) : null;
			if (line !== null) return line;
		}
		return [...sent.map((update) => this.#toOutgoing(update)), ...this.#toRequests(event)];
	}

	#toUpdates(event: AgentEvent): readonly Update[] {
		const { body } = event;
		switch (body.type) {
			case "mode.changed":
				this.choices.noteMode(body.mode);
				return [{ sessionUpdate: "current_mode_update", currentModeId: body.mode }, this.#optionsUpdate()];
			case "model.changed":
				this.choices.noteModel(body.model);
				return [this.#optionsUpdate()];
			case "title.changed":
				this.#title = body.title;
				return [
					{ sessionUpdate: "session_info_update", title: body.title, updatedAt: new Date(event.at).toISOString() },
				];
			case "side-question.ended":
				return this.#dismissed.delete(body.id) ? [] : this.#projection.take(event);
			default:
				return this.#projection.take(event);
		}
	}

	#toRequests({ body }: AgentEvent): readonly Outgoing[] {
		if (body.type === "interaction.resolved") {
			const notice = (requestId: string) => ({ method: "$/cancel_request", params: { requestId } });
			return [{ kind: "settled", interactionId: body.interactionId, notice }];
		}
		if (body.type !== "interaction.requested") return [];
		const { id: sessionId, workDir } = this.#session;
		const place = { sessionId, workDir, projection: this.#projection, codec: this.#codec };
		const request = toRequest(body.interaction, place);
		return request === null ? [] : [request];
	}

	#optionsUpdate(): Update {
		return { sessionUpdate: "config_option_update", configOptions: this.choices.options() };
	}

	#sendAll(updates: readonly Update[]): void {
		for (const update of updates) {
			const line = this.#toLine(update);
			if (line === null) this.#notifyAll(this.#codec.encode(update));
			else this.#peer.notifyLine(line);
		}
	}

	#notifyAll(updates: readonly object[]): void {
		for (const update of updates) {
			const { method, params } = this.#toOutgoing(update);
			this.#peer.notify(method, params);
		}
	}

	#toOutgoing(update: object) {
		const params = { sessionId: this.#session.id, update };
		return { kind: "notification", method: "session/update", params } as const;
	}
}

function toAttachOptions({ capabilities, info }: AttachedClient): AttachOptions {
	return {
		client: info === null ? null : { name: info.name, version: info.version },
		tools: [],
		capabilities: ["questions", "plan-mode"],
		hooks: [],
		wantsProgress: capabilities._meta.terminal_output,
	};
}
