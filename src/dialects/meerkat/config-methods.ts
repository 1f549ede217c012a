// `config/get`, `config/set`, `config/patch`: new sessions follow what they say, sessions that are there do not.
import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { SettingsDocument, SettingsDocuments } from "../../kernel/settings-documents.ts";
import { defineMethod, type Method } from "../../rpc/methods.ts";
import { type ConfigView, configName, mergePatch, toConfig, toKept } from "./config-view.ts";
import { type Era, NamedError } from "./errors.ts";
import { anyParamsSchema } from "./wire.ts";

const configParams = v.custom<Record<string, unknown>>(isRecord, "an object is needed");

export class ConfigMethods {
	readonly #document: SettingsDocument;
	readonly #era: () => Era;
	/** Counts the changes made here, for clients of the contract. */
	#generation = 0;

	constructor(documents: SettingsDocuments, era: () => Era) {
		this.#document = documents.find(configName);
		this.#era = era;
	}

	readonly rows: readonly (readonly [string, Method])[] = [
		["config/get", defineMethod({ params: anyParamsSchema, handle: async () => this.#shown(await this.read()) })],
		[
			"config/set",
			defineMethod({
				params: configParams,
				handle: async (params) => {
					await this.#change("set", () => unwrapped(params, "config"));
					return this.#era() === "seed" ? { ok: true } : this.#shown(await this.read());
				},
			}),
		],
		[
			"config/patch",
			defineMethod({
				params: configParams,
				handle: async (params) => {
					await this.#change("patch", (current) => mergePatch(current, unwrapped(params, "patch")));
					return this.#shown(await this.read());
				},
			}),
		],
	];

	/** The configuration in effect for sessions that are made now. */
	async read(): Promise<ConfigView> {
		try {
			return toConfig(await this.#document.read());
		} catch (thrown) {
			throw new NamedError("INTERNAL_ERROR", `Failed to read config: ${whatIsWrong(thrown)}`);
		}
	}

	#shown(config: ConfigView): object {
		return this.#era() === "seed" ? config : { config, generation: this.#generation };
	}

	async #change(verb: "set" | "patch", change: (current: unknown) => unknown): Promise<void> {
		try {
			await this.#document.update((current) => toKept(change(current)));
		} catch (thrown) {
			throw new NamedError("INVALID_PARAMS", `Failed to ${verb} config: ${whatIsWrong(thrown)}`);
		}
		this.#generation += 1;
	}
}

/** The contract's clients put the value into an envelope; a bare one is taken as well. */
function unwrapped(params: Record<string, unknown>, key: string): unknown {
	return key in params ? params[key] : params;
}

function whatIsWrong(thrown: unknown): string {
	if (!v.isValiError(thrown)) return errorText(thrown);
	const [issue] = thrown.issues;
	return `${v.getDotPath(issue) ?? "config"}: ${issue.message}`;
}
