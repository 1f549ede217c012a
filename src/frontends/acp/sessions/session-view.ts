import type { SessionApi } from "../../../api/kernel.ts";
import type { SessionSnapshot } from "../../../api/session-state.ts";
import type { AgentEvent } from "../../../api/values/event.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { Outgoing } from "../../shared/event-pump.ts";
import type { Codec } from "../codec.ts";
import { RequestCancelledError } from "../errors.ts";
import { toRequest } from "../interactions/requests.ts";
import { Projection } from "../projection.ts";
import { createUpdateLines, type UpdateLines } from "../update-lines.ts";
import type { Update } from "../wire-updates.ts";
import type { Choices } from "./choices.ts";
import type { AttachedClient } from "./client-side.ts";
import type { OwnPrompts } from "./own-prompts.ts";

export interface ViewParts {
	readonly session: SessionApi;
	readonly client: AttachedClient;
	readonly choices: Choices;
	readonly prompts: OwnPrompts;
	readonly peer: Peer;
	readonly clock: Clock;
}

/** What a client is shown of a session, from one attachment on. */
export class SessionView {
	readonly #parts: ViewParts;
	readonly #snapshot: SessionSnapshot;
	readonly #projection: Projection;
	readonly #codec: Codec;
	readonly #toLine: UpdateLines;
	#title: string | null;
	#owesCalls = false;

	constructor(parts: ViewParts, snapshot: SessionSnapshot) {
		const { session, client, choices, prompts } = parts;
		const codec = client.createCodec();
		this.#parts = parts;
		this.#snapshot = snapshot;
		this.#codec = codec;
		this.#projection = new Projection({
			workDir: session.workDir,
			client: client.capabilities,
			isOwnInput: (turnId) => !codec.echoesPrompts && prompts.isTurn(turnId),
			echoesPrompts: () => codec.echoesPrompts,
			price: () => choices.model?.price ?? null,
		});
		this.#toLine = createUpdateLines(session.id);
		this.#title = snapshot.title;
	}

	/** Sends the conversation so far. Fails if the signal aborts, but still processes the rest, because a turn may continue. */
	async replay(signal: AbortSignal): Promise<void> {
		const { peer } = this.#parts;
		this.#projection.isReplay = true;
		for await (const events of this.#storedEvents()) {
			for (const event of events) {
				const updates = this.#projection.take(event);
				if (updates.length === 0 || signal.aborted) continue;
				this.#sendAll(updates);
				if (peer.isFull()) await peer.ready();
			}
		}
		this.#projection.isReplay = false;
		if (signal.aborted) throw new RequestCancelledError();
		this.#sendAll(this.#takeUnfinished());
		this.#sendAll(this.#projection.usage.update());
	}

	/** Reads the session's cost and the running turn from the history, so that later updates can refer to them. */
	async recall(): Promise<void> {
		const price = this.#parts.choices.model?.price ?? null;
		if (price === null && this.#snapshot.turnId === null) return;
		this.#projection.isReplay = true;
		for await (const events of this.#storedEvents()) for (const event of events) this.#projection.take(event);
		this.#projection.isReplay = false;
		this.#takeUnfinished();
		this.#owesCalls = true;
	}

	/** Sends the open calls after `recall`, because the client may not have received them. */
	sendRecalledCalls(): void {
		if (this.#owesCalls) this.#sendAll(this.#projection.calls.current());
		this.#owesCalls = false;
	}

	sendState(): void {
		const { turnId, openInteractions } = this.#snapshot;
		const running = openInteractions.length > 0 ? "requires_action" : "running";
		this.#notifyAll(this.#codec.encodeState(turnId === null ? "idle" : running));
	}

	async sendCommands(): Promise<void> {
		const { slashCommands } = await this.#parts.session.send({ type: "session.describe" });
		const input = { hint: "optional" };
		const availableCommands = slashCommands.map(({ name, description }) => ({ name, description, input }));
		this.#sendAll([{ sessionUpdate: "available_commands_update", availableCommands }]);
	}

	sendTitle(title: string | null): void {
		if (title !== null && title !== this.#title) this.#sendAll([this.#titleUpdate(title, this.#parts.clock.now())]);
	}

	sendReport(title: string, text: string): void {
		this.#sendAll(this.#projection.report("warning", title, text, `${this.#projection.messageId}-end`));
	}

	project(event: AgentEvent): readonly Outgoing[] | string {
		const { body, turnId } = event;
		if (body.type === "turn.started") this.#parts.prompts.noteBeginning(turnId);
		const updates = this.#toUpdates(event);
		const sent = this.#codec.encodeEvent(event, updates);
		if (body.type === "content.delta" && updates[0] !== undefined) {
			const line = sent.length === 1 && sent[0] === updates[0] ? this.#toLine(updates[0]) : null;
			if (line !== null) return line;
		}
		return [...sent.map((update) => this.#toOutgoing(update)), ...this.#toRequests(event)];
	}

	async *#storedEvents(): AsyncGenerator<readonly AgentEvent[]> {
		const { seq: last } = this.#snapshot.cursor;
		for await (const events of this.#parts.session.events()) {
			if ((events.at(-1)?.seq ?? 0) <= last) {
				yield events;
				continue;
			}
			const wanted = events.filter(({ seq = 0 }) => seq <= last);
			yield wanted;
			if (wanted.length < events.length) return;
		}
	}

	#takeUnfinished(): readonly Update[] {
		const { sessionId, turnId, unfinished } = this.#snapshot;
		// Without a running turn, open items were cut off.
		const ended = turnId === null ? this.#projection.endUnfinished() : [];
		const now = { sessionId, turnId, at: this.#parts.clock.now() };
		return [...ended, ...unfinished.flatMap((part) => this.#projection.take({ ...now, ...part }))];
	}

	#toUpdates(event: AgentEvent): readonly Update[] {
		const { choices, prompts } = this.#parts;
		const { body } = event;
		switch (body.type) {
			case "mode.changed":
				choices.noteMode(body.mode);
				return [{ sessionUpdate: "current_mode_update", currentModeId: body.mode }, this.#optionsUpdate()];
			case "model.changed":
				choices.noteModel(body.model);
				return [this.#optionsUpdate()];
			case "title.changed":
				return [this.#titleUpdate(body.title, event.at)];
			case "side-question.ended":
				return prompts.takeDismissed(body.id) ? [] : this.#projection.take(event);
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
		const { id: sessionId, workDir } = this.#parts.session;
		const place = { sessionId, workDir, projection: this.#projection, codec: this.#codec };
		const request = toRequest(body.interaction, place);
		return request === null ? [] : [request];
	}

	#optionsUpdate(): Update {
		return { sessionUpdate: "config_option_update", configOptions: this.#parts.choices.options() };
	}

	#titleUpdate(title: string, at: number): Update {
		this.#title = title;
		return { sessionUpdate: "session_info_update", title, updatedAt: new Date(at).toISOString() };
	}

	#sendAll(updates: readonly Update[]): void {
		for (const update of updates) {
			const line = this.#toLine(update);
			if (line === null) this.#notifyAll(this.#codec.encode(update));
			else this.#parts.peer.notifyLine(line);
		}
	}

	#notifyAll(updates: readonly object[]): void {
		for (const update of updates) {
			const { method, params } = this.#toOutgoing(update);
			this.#parts.peer.notify(method, params);
		}
	}

	#toOutgoing(update: object) {
		const params = { sessionId: this.#parts.session.id, update };
		return { kind: "notification", method: "session/update", params } as const;
	}
}
