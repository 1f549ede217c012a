// Requests obtain the key, and retry once with another key if the provider refuses it.
import { unlessAborted } from "../../base/abort.ts";
import { sentences } from "../../base/text/sentence.ts";
import {
	type Model,
	type ModelChunk,
	type ModelFailure,
	type ModelRequest,
	modelFailure,
	type VideoFile,
	type VideoUpload,
} from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";
import { createModel } from "./registry.ts";

export type KeyAnswer =
	| { readonly ok: true; readonly key: string }
	/** A sentence for display. */
	| { readonly ok: false; readonly reason: string };

/** The source of a provider's key. Its promises never reject. */
export interface KeySource {
	current(): Promise<KeyAnswer>;
	/** Another key than the refused one. */
	renewed(refused: string): Promise<KeyAnswer>;
	readonly loginCommand: string;
}

type Attempt = { readonly kind: "over" } | { readonly kind: "refused"; readonly failure: ModelFailure };
const over: Attempt = { kind: "over" };

/** Ignores `apiKey` in the settings. A failure that a new sign-in would resolve has kind `login`. */
export async function createSignedInModel(settings: ModelSettings, keys: KeySource): Promise<Model> {
	const create = (key: string) => createModel({ ...settings, apiKey: key, keyHolder: null });
	let made = { key: "", model: await create("") };
	const { name, maxContextSize, capabilities } = made.model;

	const modelWith = async (key: string): Promise<Model> => {
		if (made.key !== key) made = { key, model: await create(key) };
		return made.model;
	};

	/** Passes the stream on, unless the key is refused right at the start. */
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

	async function uploadVideo(video: VideoFile, signal: AbortSignal): Promise<VideoUpload> {
		const first = await keys.current();
		if (!first.ok) return { ok: false, failure: login(first.reason).failure };
		const upload = await uploadWith(first.key, video, signal);
		if (upload.ok || upload.failure.statusCode !== 401 || signal.aborted) return upload;
		const second = await keys.renewed(first.key);
		if (!second.ok) return { ok: false, failure: login(second.reason, 401).failure };
		return await uploadWith(second.key, video, signal);
	}

	async function uploadWith(key: string, video: VideoFile, signal: AbortSignal): Promise<VideoUpload> {
		const upload = (await modelWith(key)).uploadVideo;
		if (upload === undefined) throw new Error("A model that accepts video uploads stopped doing so with another key.");
		return await upload(video, signal);
	}

	const uploads = made.model.uploadVideo === undefined ? {} : { uploadVideo };
	return {
		name,
		maxContextSize,
		capabilities,
		stream,
		...uploads,
		async warmUp() {
			await Promise.all([keys.current(), made.model.warmUp?.()]);
		},
	};
}
