// Observers of the events of all sessions in a process, such as traces and metrics, with each agent's model.
import type { AgentEvent } from "../../api/values/event.ts";

export interface ObservedModel {
	readonly name: string;
	readonly provider: string;
}

/** Receives every event after persistence, right before clients do. Must not throw; nothing waits for it. */
export type Observe = (event: AgentEvent, model: (event: AgentEvent) => ObservedModel) => void;

export interface ObservationSettings {
	readonly observe: Observe;
	/** Model of the main agent: its name and provider key. */
	main(): { readonly name: string; readonly provider: string | null };
	/** Returns the type of the provider with this key, or if null, of a provider with this model. Empty for none. */
	providerType(model: string, provider: string | null): string;
}

export class Observation {
	readonly #settings: ObservationSettings;
	readonly #models = new Map<string, string>();

	constructor(settings: ObservationSettings) {
		this.#settings = settings;
	}

	addAgent(agentId: string, model: string): void {
		this.#models.set(agentId, model);
	}

	removeAgent(agentId: string): void {
		this.#models.delete(agentId);
	}

	readonly take = (event: AgentEvent): void => this.#settings.observe(event, this.#modelOf);

	readonly #modelOf = ({ agentPath }: AgentEvent): ObservedModel => {
		const { main, providerType } = this.#settings;
		const agentId = agentPath.at(-1)?.agentId;
		const own = agentId == null ? undefined : this.#models.get(agentId);
		const { name, provider } = main();
		if (own === undefined || own === name) return { name, provider: providerType(name, provider) };
		return { name: own, provider: providerType(own, null) };
	};
}
