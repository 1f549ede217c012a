import type { MediaPart } from "../../api/values/content.ts";
import { scriptedModelName } from "../../api/values/model-advice.ts";
import { withLengthLimit } from "./answer-length.ts";
import { changedChunks, chunksOf, openedLater } from "./chunk-streams.ts";
import { withKeyNote, withModelNote } from "./key-note.ts";
import { type Model, type ModelRequest, modelFailure } from "./model.ts";
import type { ModelSettings, ProviderType } from "./model-settings.ts";
import { acceptanceOf } from "./requests/acceptance.ts";
import { isAcceptedMedium } from "./requests/accepted-media.ts";
import { withAcceptedRequests } from "./requests/accepted-requests.ts";
import { withoutRefusedMedia } from "./requests/refused-media.ts";
import { withoutRefusedSignatures } from "./requests/refused-signatures.ts";
import { withUniqueCallIds } from "./unique-call-ids.ts";
import { withWholeCharacters } from "./whole-characters.ts";

type Stream = Model["stream"];
type Factory = (settings: ModelSettings) => Promise<Model>;

const factories: Readonly<Record<ProviderType, Factory>> = {
	kimi: async (settings) => ({
		...createLazyModel(settings, () => loadKimi(settings)),
		async uploadVideo(video, signal) {
			const { uploadVideo } = await import("./openai-compatible/kimi-files.ts");
			const upload = await uploadVideo(settings, video, signal);
			return upload.ok ? upload : { ok: false, failure: withKeyNote(upload.failure, settings) };
		},
	}),
	openai_legacy: async (settings) => createLazyModel(settings, () => loadOpenaiLegacy(settings)),
	openai_responses: async (settings) => createLazyModel(settings, () => loadOpenaiResponses(settings)),
	anthropic: async (settings) => createLazyModel(settings, () => loadAnthropic(settings)),
	google_genai: async (settings) => createLazyModel(settings, () => loadGemini(settings)),
	gemini: async (settings) => createLazyModel(settings, () => loadGemini(settings)),
	vertexai: async (settings) => createLazyModel(settings, () => loadVertex(settings)),
	_echo: async (settings) => (await import("./scripted/echo.ts")).createEchoModel(settings),
	_scripted_echo: createScripted,
	_chaos: async (settings) => createLazyModel(settings, () => loadChaos(settings)),
};

/** Sends nothing. Scripted models get separate queues. Throws ModelConfigurationError for unusable scripts. */
export function createModel(settings: ModelSettings): Promise<Model> {
	return factories[settings.providerType](settings);
}

async function createScripted(settings: ModelSettings): Promise<Model> {
	if (settings.model === scriptedModelName && !settings.environment["KIMI_SCRIPTED_ECHO_SCRIPTS"]) {
		const { createTrialModel } = await import("./scripted/trial.ts");
		return createTrialModel(settings);
	}
	const [{ loadScripts }, { createScriptedEchoModel }] = await Promise.all([
		import("./scripted/script-source.ts"),
		import("./scripted/scripted-echo.ts"),
	]);
	const wanted = settings.environment["KIMI_SCRIPTED_ECHO_TRACE"]?.trim().toLowerCase() ?? "";
	return createScriptedEchoModel({
		scripts: await loadScripts(settings),
		maxContextSize: settings.maxContextSize,
		capabilities: settings.capabilities,
		trace: ["1", "true", "yes", "on"].includes(wanted) ? settings.trace : null,
	});
}

async function loadKimi(settings: ModelSettings): Promise<Stream> {
	const [{ streamChatCompletion }, { kimiFlavour }] = await Promise.all([
		import("./openai-compatible/chat-completions.ts"),
		import("./openai-compatible/kimi.ts"),
	]);
	return (request, signal) => streamChatCompletion(settings, kimiFlavour, request, signal);
}

async function loadChaos(settings: ModelSettings): Promise<Stream> {
	const [{ withChaos }, stream] = await Promise.all([import("./chaos.ts"), loadKimi(settings)]);
	return withChaos(stream);
}

async function loadOpenaiLegacy(settings: ModelSettings): Promise<Stream> {
	const [{ streamChatCompletion }, { openaiLegacyFlavour }] = await Promise.all([
		import("./openai-compatible/chat-completions.ts"),
		import("./openai-compatible/openai-legacy.ts"),
	]);
	return (request, signal) => streamChatCompletion(settings, openaiLegacyFlavour, request, signal);
}

async function loadGemini(settings: ModelSettings): Promise<Stream> {
	return (await import("./google/contents.ts")).createGeminiStream(settings);
}

async function loadVertex(settings: ModelSettings): Promise<Stream> {
	return (await import("./google/contents.ts")).createVertexStream(settings);
}

async function loadOpenaiResponses(settings: ModelSettings): Promise<Stream> {
	return (await import("./openai-responses/responses.ts")).createResponsesStream(settings);
}

async function loadAnthropic(settings: ModelSettings): Promise<Stream> {
	const { streamMessage } = await import("./anthropic/messages.ts");
	return (request, signal) => streamMessage(settings, request, signal);
}

function createLazyModel(settings: ModelSettings, load: () => Promise<Stream>): Model {
	const open = async (request: ModelRequest, signal: AbortSignal) => {
		try {
			return (await load())(request, signal);
		} catch (thrown) {
			return chunksOf(modelFailure("defect", `The adapter of the provider could not be loaded: ${String(thrown)}`));
		}
	};
	const opened: Stream = (request, signal) => openedLater(() => open(request, signal));
	const acceptance = acceptanceOf(settings.providerType, settings.baseUrl);
	const isSent = (part: MediaPart) => isAcceptedMedium(part, acceptance.media, settings.capabilities);
	const shown = withoutRefusedMedia(withAcceptedRequests(opened, acceptance, settings), isSent, settings);
	const accepted = withoutRefusedSignatures(shown);
	const mended = withLengthLimit(withUniqueCallIds(withWholeCharacters(accepted)));
	const stream: Stream = (request, signal) =>
		changedChunks(mended(request, signal), (chunk) =>
			chunk.type === "failed"
				? { ...chunk, failure: withModelNote(withKeyNote(chunk.failure, settings), settings) }
				: chunk,
		);
	return {
		name: settings.model,
		maxContextSize: settings.maxContextSize,
		capabilities: settings.capabilities,
		stream,
		async warmUp() {
			await Promise.all([load(), openConnection(settings)]);
		},
	};
}

/** An unusable address is reported by the first request. */
async function openConnection({ baseUrl, network }: ModelSettings): Promise<void> {
	if (/^https?:/i.test(baseUrl) && URL.canParse(baseUrl)) await network.openConnection(new URL(baseUrl));
}
