// What observes the events of all sessions of a process, such as traces and metrics, with the model of each agent.
import type { AgentEvent } from "../../api/values/event.ts";

/** The model of an agent. */
export interface ObservedModel {
	/** The name sent to the provider; empty when there is none. */
	readonly name: string;
	/** The type of its provider in the settings; empty when it is not known. */
	readonly provider: string;
}

/** Takes every event once it is persisted, right before clients have it. Must not throw, and nothing waits for it. */
export type Observe = (event: AgentEvent, model: (event: AgentEvent) => ObservedModel) => void;

export interface ObservationSettings {
	readonly observe: Observe;
	/** The model of the session's own agent: its name, and the key of its provider. */
	main(): { readonly name: string; readonly provider: string | null };
	/** The type of the provider of this key; with null, of one that has a model of this name. Empty for none. */
	providerType(model: string, provider: string | null): string;
}

/** The observation of one session. */
export class Observation {
	readonly #settings: ObservationSettings;
	/** The names of the models of subagents. */
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
