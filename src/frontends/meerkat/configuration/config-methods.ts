import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import type { SettingsDocument, SettingsDocuments } from "../../../api/kernel.ts";
import { errorText } from "../../../base/errors.ts";
import { defineMethod, type Method } from "../../../ports/rpc/methods.ts";
import type { EraCodec } from "../eras/codec.ts";
import { NamedError } from "../errors.ts";
import { meerkatProtocol } from "../protocol.ts";
import { refuseUnhonoredOfConfig } from "../unhonored.ts";
import { type ConfigView, configName, mergePatch, toConfig, toPersisted, withForeign } from "./config-view.ts";
import type { ConfigPatchParams, ConfigSetParams } from "./wire-config.ts";

const { methods: shapes } = meerkatProtocol;

export class ConfigMethods {
	readonly #document: SettingsDocument;
	readonly #codec: () => EraCodec;
	/** Counts changes for clients of the contract, including those found to be made by others. */
	#generation = 0;
	/** The document as last read or written here, as JSON values; null before. */
	#seen: unknown = null;
	#changes = 0;
	#changed: Promise<unknown> = Promise.resolve();

	constructor(documents: SettingsDocuments, codec: () => EraCodec) {
		this.#document = documents.find(configName);
		this.#codec = codec;
	}

	readonly rows: readonly (readonly [string, Method])[] = [
		[
			"config/get",
			defineMethod({
				...shapes["config/get"],
				handle: async () => this.#codec().config(await this.read(), this.#generation),
			}),
		],
		[
			"config/set",
			defineMethod({
				...shapes["config/set"],
				handle: async (params) => {
					const { value, expected } = fromEnvelope(params, "config");
					const { config, generation } = await this.#change("set", expected, () => value);
					return this.#codec().configSet(config, generation);
				},
			}),
		],
		[
			"config/patch",
			defineMethod({
				...shapes["config/patch"],
				handle: async (params) => {
					const { value, expected } = fromEnvelope(params, "patch");
					const { config, generation } = await this.#change("patch", expected, (current) => mergePatch(current, value));
					return this.#codec().config(config, generation);
				},
			}),
		],
	];

	/** The configuration for new sessions, after all changes requested before. */
	async read(): Promise<ConfigView> {
		try {
			await this.#changed;
			const changes = this.#changes;
			const document = await this.#document.read();
			// A read during a change may return the earlier state.
			if (changes === this.#changes) this.#look(document);
			return toConfig(document);
		} catch (thrown) {
			throw new NamedError("INTERNAL_ERROR", `Failed to read config: ${whatIsWrong(thrown)}`);
		}
	}

	/** Counts a change made elsewhere. */
	#look(document: unknown): void {
		const seen = toJsonValue(document);
		if (this.#seen !== null && !isDeepStrictEqual(this.#seen, seen)) this.#generation += 1;
		this.#seen = seen;
	}

	#change(verb: "set" | "patch", expected: number | null, change: Change): Promise<Changed> {
		this.#changes += 1;
		const changing = this.#update(verb, expected, change);
		this.#changed = Promise.allSettled([this.#changed, changing]);
		return changing;
	}

	/** Fails if the configuration has another generation; null expects none. */
	async #update(verb: "set" | "patch", expected: number | null, change: Change): Promise<Changed> {
		let generation = 0;
		try {
			const document = await this.#document.update((current) => {
				this.#look(current);
				if (expected !== null && expected !== this.#generation) {
					const conflict = `Generation conflict: expected ${expected}, current ${this.#generation}`;
					throw new NamedError("INVALID_PARAMS", conflict);
				}
				const next = withForeign(current, toPersisted(change(current)));
				// Counted here, since the next change may begin before this one is on disk.
				this.#generation += 1;
				generation = this.#generation;
				this.#seen = toJsonValue(next);
				return next;
			});
			return { config: toConfig(document), generation };
		} catch (thrown) {
			if (thrown instanceof NamedError) throw thrown;
			throw new NamedError("INVALID_PARAMS", `Failed to ${verb} config: ${whatIsWrong(thrown)}`);
		}
	}
}

type Change = (current: unknown) => unknown;

interface Changed {
	readonly config: ConfigView;
	readonly generation: number;
}

/** The TOML parser returns objects without a prototype. */
function toJsonValue(document: unknown): unknown {
	return JSON.parse(JSON.stringify(document));
}

/** The value under `name` with its expected generation, or a bare value for any generation. */
function fromEnvelope(
	params: ConfigSetParams | ConfigPatchParams,
	name: "config" | "patch",
): { readonly value: unknown; readonly expected: number | null } {
	refuseUnhonoredOfConfig(name in params ? params[name] : params);
	if (!(name in params)) return { value: params, expected: null };
	return { value: params[name], expected: params.expected_generation ?? null };
}

function whatIsWrong(thrown: unknown): string {
	if (!v.isValiError(thrown)) return errorText(thrown);
	const [issue] = thrown.issues;
	return `${v.getDotPath(issue) ?? "config"}: ${issue.message}`;
}
