// `config/get`, `config/set`, `config/patch`: read and change the configuration of new sessions; existing sessions are
// unaffected.
import * as v from "valibot";
import { errorText } from "../../../base/errors.ts";
import type { SettingsDocument, SettingsDocuments } from "../../../kernel/api.ts";
import { defineMethod, type Method } from "../../../rpc/methods.ts";
import type { EraCodec } from "../eras/codec.ts";
import { NamedError } from "../errors.ts";
import { meerkatProtocol } from "../protocol.ts";
import type { ConfigResult } from "../wire.ts";
import { type ConfigView, configName, mergePatch, toConfig, toPersisted } from "./config-view.ts";

const { methods: shapes } = meerkatProtocol;

export class ConfigMethods {
	readonly #document: SettingsDocument;
	readonly #codec: () => EraCodec;
	/** Counts the changes made here, for clients of the contract. */
	#generation = 0;

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
					const config = await this.#change("set", () => ("config" in params ? params.config : params));
					return this.#codec().configSet(config, this.#generation);
				},
			}),
		],
		[
			"config/patch",
			defineMethod({
				...shapes["config/patch"],
				handle: async (params) => {
					const patch = "patch" in params ? params.patch : params;
					return this.#shown(await this.#change("patch", (current) => mergePatch(current, patch)));
				},
			}),
		],
	];

	/** The configuration for sessions that are created now. */
	async read(): Promise<ConfigView> {
		try {
			return toConfig(await this.#document.read());
		} catch (thrown) {
			throw new NamedError("INTERNAL_ERROR", `Failed to read config: ${whatIsWrong(thrown)}`);
		}
	}

	#shown(config: ConfigView): ConfigResult {
		return this.#codec().config(config, this.#generation);
	}

	async #change(verb: "set" | "patch", change: (current: unknown) => unknown): Promise<ConfigView> {
		try {
			const changed = toConfig(await this.#document.update((current) => toPersisted(change(current))));
			this.#generation += 1;
			return changed;
		} catch (thrown) {
			throw new NamedError("INVALID_PARAMS", `Failed to ${verb} config: ${whatIsWrong(thrown)}`);
		}
	}
}

function whatIsWrong(thrown: unknown): string {
	if (!v.isValiError(thrown)) return errorText(thrown);
	const [issue] = thrown.issues;
	return `${v.getDotPath(issue) ?? "config"}: ${issue.message}`;
}
