import type { CommandValues } from "../../../api/commands.ts";
import type { SessionApi } from "../../../api/kernel.ts";
import type { ModelChoice, ModelOption } from "../../../api/models.ts";
import type { SessionDescription } from "../../../api/session-state.ts";
import { type SessionMode, sessionModes } from "../../../api/values/session-mode.ts";
import { KernelError } from "../../../base/errors.ts";
import { quoted } from "../errors.ts";
import type { ConfigOption, Modes, OpenSessionResult } from "../wire.ts";

const modeTexts: { readonly [M in SessionMode]: { readonly name: string; readonly description: string } } = {
	default: { name: "Default", description: "Asks before it changes files or runs commands." },
	plan: { name: "Plan", description: "Reads and plans, and changes nothing until the plan is approved." },
	auto: { name: "Auto", description: "Nobody is asked: what a rule would ask about is refused, the rest is done." },
	yolo: { name: "YOLO", description: "Everything that no rule denies is approved." },
};

export class Choices {
	readonly #session: Pick<SessionApi, "send">;
	readonly #models: readonly ModelOption[];
	readonly #takesBooleans: boolean;
	readonly #choosable: readonly SessionMode[];
	#mode: SessionMode;
	#model: ModelChoice | null;

	constructor(
		session: Pick<SessionApi, "send">,
		{ models, modes }: Pick<SessionDescription, "models" | "modes">,
		takesBooleans: boolean,
		now: { readonly mode: SessionMode; readonly model: ModelChoice | null },
	) {
		this.#session = session;
		this.#models = models;
		this.#choosable = modes;
		this.#takesBooleans = takesBooleans;
		this.#mode = now.mode;
		this.#model = now.model;
	}

	get mode(): SessionMode {
		return this.#mode;
	}

	get model(): ModelOption | null {
		return this.#models.find(({ alias }) => alias === this.#model?.alias) ?? null;
	}

	noteMode(mode: SessionMode): void {
		this.#mode = mode;
	}

	noteModel(model: ModelChoice): void {
		this.#model = model;
	}

	async setMode(id: string): Promise<void> {
		const mode = sessionModes.find((known) => known === id);
		if (mode === undefined) throw unknown("mode", id, sessionModes);
		this.#mode = (await this.#session.send({ type: "mode.set", mode })).mode;
	}

	async set(id: string, value: string | boolean): Promise<void> {
		const option = this.options().find((each) => each.id === id);
		if (option === undefined) {
			const known = this.options().map((each) => each.id);
			throw unknown("configuration option", id, known);
		}
		switch (option.id) {
			case "mode":
				await this.setMode(String(value));
				return;
			case "model": {
				const known = this.#models.find(({ alias }) => alias === value);
				if (known === undefined)
					throw unknown(
						"model",
						String(value),
						this.#models.map(({ alias }) => alias),
					);
				await this.#setModel({ model: known.alias, thinking: null });
				return;
			}
			default:
				await this.#setModel({ model: null, thinking: toBoolean(value) });
		}
	}

	modes(): Modes {
		return {
			currentModeId: this.#mode,
			availableModes: this.#shownModes.map((id) => ({ id, ...modeTexts[id] })),
		};
	}

	/** The selectable modes and the current one, which a flag may have set although it is not selectable. */
	get #shownModes(): readonly SessionMode[] {
		return sessionModes.filter((mode) => mode === this.#mode || this.#choosable.includes(mode));
	}

	options(): ConfigOption[] {
		return [this.#modeOption(), ...this.#modelOption(), ...this.#thinkingOption()];
	}

	result(): OpenSessionResult {
		return { modes: this.modes(), configOptions: this.options() };
	}

	async #setModel(change: { readonly model: string | null; readonly thinking: boolean | null }): Promise<void> {
		const chosen: CommandValues["model.set"] = await this.#session.send({ type: "model.set", ...change });
		this.#model = chosen;
	}

	#modeOption(): ConfigOption {
		return {
			type: "select",
			id: "mode",
			name: "Mode",
			description: "What the agent may do without asking.",
			category: "mode",
			currentValue: this.#mode,
			options: this.#shownModes.map((value) => ({ value, ...modeTexts[value] })),
		};
	}

	#modelOption(): ConfigOption[] {
		if (this.#model === null) return [];
		const { alias, name, provider } = this.#model;
		const listed = this.#models.map((each) => ({
			value: each.alias,
			name: each.alias,
			description: `${each.name} of ${each.provider}`,
		}));
		const currentValue = alias ?? name;
		const isListed = listed.some(({ value }) => value === currentValue);
		const own = { value: currentValue, name, description: `${name} of ${provider}` };
		return [
			{
				type: "select",
				id: "model",
				name: "Model",
				description: "The model that answers from the next prompt on.",
				category: "model",
				currentValue,
				options: isListed ? listed : [own, ...listed],
			},
		];
	}

	#thinkingOption(): ConfigOption[] {
		if (this.#model === null || this.model?.thinking !== "optional") return [];
		const { thinking } = this.#model;
		const described = {
			id: "thinking",
			name: "Thinking",
			description: "Whether the model thinks before it answers, from the next prompt on.",
			category: "thought_level",
		};
		if (this.#takesBooleans) return [{ type: "boolean", ...described, currentValue: thinking }];
		const options = [
			{ value: "on", name: "On" },
			{ value: "off", name: "Off" },
		];
		return [{ type: "select", ...described, currentValue: thinking ? "on" : "off", options }];
	}
}

function toBoolean(value: string | boolean): boolean {
	if (value === true || value === "on") return true;
	if (value === false || value === "off") return false;
	throw unknown("value of thinking", String(value), ["on", "off"]);
}

function unknown(what: string, given: string, known: readonly string[]): KernelError {
	return new KernelError("invalid-input", `There is no ${what} ${quoted(given)}; there are ${known.join(", ")}.`);
}
