import type { Fields } from "../answers/event-json.ts";
import type { ProviderMemory } from "../answers/memory.ts";
import type { HeaderSettings } from "../http/endpoint.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { samplingOf, thinkingOf } from "../model-settings.ts";
import { toContents } from "./conversation.ts";
import { isThirdGeneration, thinkingConfiguration } from "./thinking.ts";

export type ContentSettings = HeaderSettings &
	Pick<
		ModelSettings,
		| "baseUrl"
		| "apiKey"
		| "model"
		| "capabilities"
		| "thinking"
		| "sampling"
		| "network"
		| "timeouts"
		| "clock"
		| "environment"
		| "home"
		| "readFile"
	>;

/** A signature is only sent back to the model that created it. */
export function memoryOf({ model }: Pick<ContentSettings, "model">): ProviderMemory {
	const signature = ["thoughtSignature"];
	return { origin: `google:${model}`, names: { thought: signature, text: signature, message: [], call: signature } };
}

export function toBody(request: ModelRequest, settings: ContentSettings, hasIds: boolean): Fields {
	const { model } = settings;
	const { maxCompletionTokens, temperature, topP } = samplingOf(request, settings);
	const budget = request.sampling?.thinkingBudget ?? null;
	const thinkingConfig = thinkingConfiguration(model, thinkingOf(request, settings), budget);
	const cap = maxCompletionTokens ?? 0;
	const contents = toContents(request.messages, {
		...{ memory: memoryOf(settings), hasIds, isThirdGeneration: isThirdGeneration(model) },
	});
	const system = request.systemPrompt === "" ? [] : [{ text: request.systemPrompt }];
	// Gemma only accepts it at the start of the conversation.
	const isGemma = /^gemma-/i.test(model);
	if (isGemma && contents[0]?.role === "user") contents[0].parts.unshift(...system);
	const declarations = request.tools.map(({ name, description, parameters }) => ({
		...{ name, description, parametersJsonSchema: parameters },
	}));
	return {
		...(system.length === 0 || isGemma ? {} : { systemInstruction: { parts: system } }),
		contents,
		...(declarations.length === 0 ? {} : { tools: [{ functionDeclarations: declarations }] }),
		generationConfig: {
			...(cap <= 0 ? {} : { maxOutputTokens: cap }),
			...(temperature === null ? {} : { temperature }),
			...(topP === null ? {} : { topP }),
			...(thinkingConfig === null ? {} : { thinkingConfig }),
		},
	};
}
