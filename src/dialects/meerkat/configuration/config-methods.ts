// `config/get`, `config/set`, `config/patch`: read and change the configuration of new sessions; existing sessions are
// unaffected.
import * as v from "valibot";
import { errorText } from "../../../base/errors.ts";
import type { SettingsDocument, SettingsDocuments } from "../../../kernel/api.ts";
import { defineMethod, type Method } from "../../../rpc/methods.ts";
import type { EraCodec } from "../eras/codec.ts";
import { NamedError } from "../errors.ts";
import { meerkatProtocol } from "../protocol.ts";
import { type ConfigView, configName, mergePatch, toConfig, toPersisted, withForeign } from "./config-view.ts";
import type { ConfigPatchParams, ConfigResult, ConfigSetParams } from "./wire-config.ts";

const { methods: shapes } = meerkatProtocol;

export class ConfigMethods {
	readonly #document: SettingsDocument;
	readonly #codec: () => EraCodec;
	/** Counts the changes, for clients of the contract: those made here, and those of others that were found. */
	#generation = 0;
	/** The document as it was last read or written here, as JSON; null before. */
	#seen: string | null = null;

	constructor(documents: SettingsDocuments, codec: () => EraCodec) {
		this.#document = documents.find(configName);
		this.#codec = codec;
	}

	readonly rows: readonly (readonly [string, Method])[] = [
		["config/get", defineMethod({ ...shapes["config/get"], handle: async () => this.#shown(await this.read()) })],
		[
			"config/set",
			defineMethod({
				...shapes["config/set"],
				handle: async (params) => {
					const { value, expected } = fromEnvelope(params, "config");
					const config = await this.#change("set", expected, () => value);
					return this.#codec().configSet(config, this.#generation);
				},
			}),
		],
		[
			"config/patch",
			defineMethod({
				...shapes["config/patch"],
				handle: async (params) => {
					const { value, expected } = fromEnvelope(params, "patch");
					return this.#shown(await this.#change("patch", expected, (current) => mergePatch(current, value)));
				},
			}),
		],
	];

	/** The configuration for sessions that are created now. */
	async read(): Promise<ConfigView> {
		try {
			const document = await this.#document.read();
			this.#look(document);
			return toConfig(document);
		} catch (thrown) {
			throw new NamedError("INTERNAL_ERROR", `Failed to read config: ${whatIsWrong(thrown)}`);
		}
	}

	/** Counts a change of somebody else. */
	#look(document: unknown): void {
		const text = JSON.stringify(document);
		if (this.#seen !== null && this.#seen !== text) this.#generation += 1;
		this.#seen = text;
	}

	#shown(config: ConfigView): ConfigResult {
		return this.#codec().config(config, this.#generation);
	}

	/** Fails when the configuration is not of the expected generation any more; null expects none. */
	async #change(
		verb: "set" | "patch",
		expected: number | null,
		change: (current: unknown) => unknown,
	): Promise<ConfigView> {
		try {
			const document = await this.#document.update((current) => {
				this.#look(current);
				if (expected !== null && expected !== this.#generation) {
					const conflict = `Generation conflict: expected ${expected}, current ${this.#generation}`;
					throw new NamedError("INVALID_PARAMS", conflict);
				}
				return withForeign(current, toPersisted(change(current)));
			});
			this.#generation += 1;
			this.#seen = JSON.stringify(document);
			return toConfig(document);
		} catch (thrown) {
			if (thrown instanceof NamedError) throw thrown;
			throw new NamedError("INVALID_PARAMS", `Failed to ${verb} config: ${whatIsWrong(thrown)}`);
		}
	}
}

/** What is given as `name`, with the generation that is expected; or bare, for any generation. */
function fromEnvelope(
	params: ConfigSetParams | ConfigPatchParams,
	name: "config" | "patch",
): { readonly value: unknown; readonly expected: number | null } {
	if (!(name in params)) return { value: params, expected: null };
	return { value: params[name], expected: params.expected_generation ?? null };
}

function whatIsWrong(thrown: unknown): string {
	if (!v.isValiError(thrown)) return errorText(thrown);
	const [issue] = thrown.issues;
	return `${v.getDotPath(issue) ?? "config"}: ${issue.message}`;
}
