// A model of a provider that one signs in to: the key is asked for with each request, and another one once when the
// provider refuses it. Knows no provider and no way to sign in.
import { unlessAborted } from "../base/abort.ts";
import { sentences } from "../base/sentence.ts";
import { type Model, type ModelChunk, type ModelFailure, type ModelRequest, modelFailure } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";
import { createModel } from "./registry.ts";

export type KeyAnswer =
	| { readonly ok: true; readonly key: string }
	/** A sentence for people. */
	| { readonly ok: false; readonly reason: string };

/** Where the key of a provider comes from. Its promises never reject. */
export interface KeySource {
	/** The key of this moment. */
	current(): Promise<KeyAnswer>;
	/** Another key than the one that the provider refused. */
	renewed(refused: string): Promise<KeyAnswer>;
	/** What signs a person in, as typed. */
	readonly loginCommand: string;
}

type Attempt = { readonly kind: "over" } | { readonly kind: "refused"; readonly failure: ModelFailure };
const over: Attempt = { kind: "over" };

/**
 * Makes the model; the `apiKey` of the settings is not used. A failure that signing in again would mend is of the kind
 * `login`. Throws ModelConfigurationError as `createModel` does.
 */
export async function createSignedInModel(settings: ModelSettings, keys: KeySource): Promise<Model> {
	const create = (key: string) => createModel({ ...settings, apiKey: key, keyHolder: null });
	let made = { key: "", model: await create("") };
	const { name, maxContextSize, capabilities } = made.model;

	const modelWith = async (key: string): Promise<Model> => {
		if (made.key !== key) made = { key, model: await create(key) };
		return made.model;
	};

	/** Passes the stream on, but for a refusal of the key right at its beginning. */
	async function* attempt(
		key: string,
		request: ModelRequest,
		signal: AbortSignal,
	): AsyncGenerator<ModelChunk, Attempt> {
		let isFirst = true;
		for await (const chunk of (await modelWith(key)).stream(request, signal)) {
			const isRefusal = chunk.type === "failed" && chunk.failure.statusCode === 401;
			if (isRefusal && isFirst) return { kind: "refused", failure: chunk.failure };
			isFirst = false;
			yield isRefusal ? loginFailure(chunk.failure) : chunk;
		}
		return over;
	}

	function loginFailure(failure: ModelFailure) {
		return login(sentences(`The provider refuses the sign-in: ${failure.message}`), failure.statusCode);
	}

	function login(reason: string, statusCode: number | null = null) {
		return modelFailure("login", `${reason} Run "${keys.loginCommand}" to sign in again.`, statusCode);
	}

	async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk, void> {
		const first = await unlessAborted(keys.current(), signal);
		if (first === null || signal.aborted) return;
		if (!first.ok) {
			yield login(first.reason);
			return;
		}
		const { kind } = yield* attempt(first.key, request, signal);
		if (kind === "over" || signal.aborted) return;
		const second = await unlessAborted(keys.renewed(first.key), signal);
		if (second === null || signal.aborted) return;
		if (!second.ok) {
			yield login(second.reason, 401);
			return;
		}
		const last = yield* attempt(second.key, request, signal);
		if (last.kind === "refused" && !signal.aborted) yield loginFailure(last.failure);
	}

	return {
		name,
		maxContextSize,
		capabilities,
		stream,
		async warmUp() {
			await Promise.all([keys.current(), made.model.warmUp?.()]);
		},
	};
}
