// What the API of each provider accepts in a request, where they differ.
import type { MediaRules } from "./accepted-media.ts";

export interface Acceptance {
	readonly media: MediaRules;
	/** Tools of a request; null where the provider documents no limit. */
	readonly mostTools: number | null;
	/** Recognises the name of a tool to which the provider itself gives a meaning. */
	isReserved(name: string): boolean;
}

const images = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const web = new Set(["http:", "https:"]);

/** Many servers speak this API at other addresses, with limits of their own. */
export function toChatAcceptance(baseUrl: string): Acceptance {
	const isOpenai = URL.canParse(baseUrl) && new URL(baseUrl).hostname === "api.openai.com";
	return {
		media: { images, videos: true, protocols: web },
		mostTools: isOpenai ? 128 : null,
		isReserved: () => false,
	};
}

export const responsesAcceptance: Acceptance = {
	media: { images, videos: false, protocols: web },
	mostTools: 128,
	isReserved: () => false,
};

export const kimiAcceptance: Acceptance = {
	// `ms:` is a file that was uploaded.
	media: { images, videos: true, protocols: new Set([...web, "ms:"]) },
	mostTools: 128,
	// A function built into the platform.
	isReserved: (name) => name.startsWith("$"),
};

export const anthropicAcceptance: Acceptance = {
	media: { images, videos: false, protocols: new Set(["https:"]) },
	mostTools: null,
	isReserved: () => false,
};

export const googleAcceptance: Acceptance = {
	media: {
		images: new Set(["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]),
		videos: true,
		protocols: web,
	},
	mostTools: null,
	isReserved: () => false,
};
