// What a session reports, to which clients, and what it asks them. The other parts report and ask through it.

import type { ClientCapability } from "../../api/session-options.ts";
import type { EventBody } from "../../api/values/event.ts";
import { never } from "../../base/abort.ts";
import type { SessionState } from "../../ports/store/session-store.ts";
import { type CallClientTool, createClientToolCalls } from "../clients/client-tools.ts";
import { Clients } from "../clients/clients.ts";
import { Emitter, outsideTurns } from "../clients/emitter.ts";
import { Observation } from "../clients/observation.ts";
import { ProgressReports } from "../clients/progress-reports.ts";
import { InteractionTable } from "../interactions/interaction-table.ts";
import { CurrentTurn } from "../turn/current-turn.ts";
import { type ChosenModel, SessionModel } from "./session-model.ts";
import type { SessionParts } from "./session-parts.ts";

export class SessionEvents {
	readonly turn: CurrentTurn;
	readonly emitter: Emitter;
	readonly model: SessionModel;
	readonly observation: Observation | null;
	readonly clients: Clients;
	readonly interactions: InteractionTable;
	readonly progress: ProgressReports;
	readonly callClientTool: CallClientTool;
	/** Whether questions for a person wait for a client that can answer them. */
	readonly isWaiting: boolean;

	constructor(parts: SessionParts) {
		const { stored, clock, chosen, models, observation, deadlines, whenUnattended, allRunning } = parts;
		this.turn = new CurrentTurn(allRunning);
		const emitter = new Emitter(stored, clock);
		const clients = new Clients(emitter, stored);
		this.emitter = emitter;
		this.clients = clients;
		this.isWaiting = whenUnattended === "wait";
		this.interactions = new InteractionTable(deadlines, clock, (open) => clients.ableToAnswer(open), this.isWaiting);
		emitter.onDelivered((event) => this.interactions.noteDelivered(event));
		clients.onGone(() => this.interactions.clientGone());
		this.callClientTool = createClientToolCalls(this.interactions, emitter, () => this.turn.place);
		this.progress = new ProgressReports({ emitter, clock, isWanted: () => clients.wantsProgress });
		this.model = new SessionModel({
			stored,
			initial: chosen,
			prepare: (change) => models.prepare(change),
			changed: (choice) => this.report({ type: "model.changed", model: choice }),
		});
		this.observation = observation === undefined ? null : this.#observe(observation);
	}

	#observe(settings: NonNullable<SessionParts["observation"]>): Observation {
		const main = () => ({ name: this.chosen.sentName, provider: this.chosen.choice?.provider ?? null });
		const observation = new Observation({ ...settings, main });
		this.emitter.onDelivered(observation.take);
		return observation;
	}

	get chosen(): ChosenModel {
		return this.turn.running?.chosen ?? this.model.current;
	}

	can(capability: ClientCapability): boolean {
		return this.isWaiting || this.clients.can(capability);
	}

	emit(body: EventBody): Promise<void> | undefined {
		return this.emitter.emit(this.turn.place, body, {}, this.turn.signal ?? never);
	}

	/** Waits until it is on stable storage; cancelling the turn does not stop the wait for clients. */
	emitSynced(body: EventBody): Promise<void> | undefined {
		return this.emitter.emit(this.turn.place, body, { sync: true }, never);
	}

	/** Takes effect even if no client reads it. */
	async emitOutside(body: EventBody, state: Partial<SessionState> = {}): Promise<void> {
		await this.emitter.emit(outsideTurns, body, { state, sync: true }, AbortSignal.abort());
	}

	/** Like a snapshot: nothing waits for it, and earlier persistence failures do not stop it. */
	report(body: EventBody): void {
		this.emitter
			.emit(outsideTurns, body, {}, AbortSignal.abort())
			?.catch(() => this.emitter.deliverVolatile(outsideTurns, body));
	}

	/** After a persistence failure, the turn emits nothing more, even if parts of it still run. */
	readonly persisted = async <T>(work: Promise<T>): Promise<T> => {
		try {
			return await work;
		} catch (thrown) {
			if (this.turn.id !== null) this.emitter.fail(this.turn.id, thrown);
			throw thrown;
		}
	};
}
