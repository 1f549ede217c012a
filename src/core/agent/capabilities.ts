import type { ContentPart } from "../../api/values/content.ts";
import type { TurnError } from "../../api/values/event.ts";
import type { Capability, Model } from "../models/model.ts";

const needed: { readonly [T in ContentPart["type"]]: Capability | null } = {
	text: null,
	think: "thinking",
	image_url: "image_in",
	audio_url: null,
	video_url: "video_in",
};

export function missingCapability(model: Model, parts: readonly ContentPart[]): TurnError | null {
	const missing = new Set<Capability>();
	for (const part of parts) {
		const capability = needed[part.type];
		if (capability !== null && !hasCapability(model, capability)) missing.add(capability);
	}
	if (missing.size === 0) return null;
	const noun = missing.size === 1 ? "capability" : "capabilities";
	const names = [...missing].join(", ");
	return {
		code: "capability-missing",
		message: `LLM model '${model.name}' does not support required ${noun}: ${names}.`,
		data: null,
	};
}

function hasCapability(model: Model, capability: Capability): boolean {
	return model.capabilities.has(capability) || (capability === "thinking" && model.capabilities.has("always_thinking"));
}
