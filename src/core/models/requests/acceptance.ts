import type { ProviderType } from "../model-settings.ts";
import type { MediaRules } from "./accepted-media.ts";

export interface Acceptance {
	readonly media: MediaRules;
	/** Maximum tools per request; null if the provider documents no limit. */
	readonly mostTools: number | null;
	isReserved(name: string): boolean;
}

const images = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const web = new Set(["http:", "https:"]);

/** Many servers with this API have their own limits. */
function toChatAcceptance(baseUrl: string): Acceptance {
	const isOpenai = URL.canParse(baseUrl) && new URL(baseUrl).hostname === "api.openai.com";
	return {
		media: { images, videos: true, audio: true, protocols: web },
		mostTools: isOpenai ? 128 : null,
		isReserved: () => false,
	};
}

const responsesAcceptance: Acceptance = {
	media: { images, videos: false, audio: false, protocols: web },
	mostTools: 128,
	isReserved: () => false,
};

const kimiAcceptance: Acceptance = {
	// `ms:` is an uploaded file.
	media: { images, videos: true, audio: true, protocols: new Set([...web, "ms:"]) },
	mostTools: 128,
	// A function built into the platform.
	isReserved: (name) => name.startsWith("$"),
};

const anthropicAcceptance: Acceptance = {
	media: { images, videos: false, audio: false, protocols: new Set(["https:"]) },
	mostTools: null,
	isReserved: () => false,
};

const googleAcceptance: Acceptance = {
	media: {
		images: new Set(["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]),
		videos: true,
		audio: true,
		protocols: web,
	},
	mostTools: null,
	isReserved: () => false,
};

const acceptances: Readonly<Record<ProviderType, (baseUrl: string) => Acceptance>> = {
	kimi: () => kimiAcceptance,
	openai_legacy: toChatAcceptance,
	openai_responses: () => responsesAcceptance,
	anthropic: () => anthropicAcceptance,
	google_genai: () => googleAcceptance,
	gemini: () => googleAcceptance,
	vertexai: () => googleAcceptance,
	_echo: () => kimiAcceptance,
	_scripted_echo: () => kimiAcceptance,
	_chaos: () => kimiAcceptance,
};

export function acceptanceOf(type: ProviderType, baseUrl: string): Acceptance {
	return acceptances[type](baseUrl);
}
