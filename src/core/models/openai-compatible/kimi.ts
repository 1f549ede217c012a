import { completionCap } from "../completion-cap.ts";
import type { ModelRequest, ToolSpecification } from "../model.ts";
import { samplingOf } from "../model-settings.ts";
import { audioAtUrl, type BodyFields, type ChatFlavour, type ChatSettings } from "./flavour.ts";
import { fillTypes } from "./tool-schema.ts";

export const kimiFlavour: ChatFlavour = {
	reasoningKey: () => "reasoning_content",
	absentReasoning,
	emptyContentWithCalls: "omitted",
	namesToolMessages: true,
	audio: audioAtUrl,
	tool,
	extras,
};

// With thinking on, Kimi refuses an assistant message that has tool calls but no reasoning; any nonempty text will do.
function absentReasoning(settings: ChatSettings): string | null {
	if (settings.thinking === "off") return null;
	const canThink = settings.capabilities.has("thinking") || settings.capabilities.has("always_thinking");
	return settings.thinking === "on" || canThink ? " " : null;
}

function tool(specification: ToolSpecification): BodyFields {
	const { name, description, parameters } = specification;
	if (name.startsWith("$")) return { type: "builtin_function", function: { name } };
	return { type: "function", function: { name, description, parameters: fillTypes(parameters) } };
}

function extras(settings: ChatSettings, request: ModelRequest): BodyFields {
	const { thinking, maxContextSize } = settings;
	const sampling = samplingOf(request, settings);
	const cap = completionCap(request, maxContextSize, sampling.maxCompletionTokens);
	return {
		...(cap === null ? {} : { max_completion_tokens: cap }),
		...(thinking === "on" ? { thinking: { type: "enabled", ...keep(sampling.thinkingKeep) } } : {}),
		...(thinking === "off" ? { thinking: { type: "disabled" } } : {}),
		prompt_cache_key: request.cacheKey,
	};
}

function keep(value: string | null): BodyFields {
	return value === null ? {} : { keep: value };
}
