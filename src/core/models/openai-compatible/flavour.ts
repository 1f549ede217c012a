// The differences between servers of chat completions: one value of this type for each provider type.
import type { ModelRequest, ToolSpecification } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

export type ChatSettings = Omit<ModelSettings, "environment" | "home" | "readFile" | "trace" | "providerType">;

export type BodyFields = Readonly<Record<string, unknown>>;

export interface ChatFlavour {
	/** The key for sending reasoning back; null to omit it. */
	reasoningKey(settings: ChatSettings): string | null;
	/** The reasoning for a message with tool calls that has none; null to omit the key. */
	absentReasoning(settings: ChatSettings, request: ModelRequest): string | null;
	/** Empty content together with tool calls: omitted, or null. */
	readonly emptyContentWithCalls: "omitted" | "null";
	/** Whether tool messages carry the tool's name. */
	readonly namesToolMessages: boolean;
	/** The block of content for audio at this address, which may be a data URI. */
	audio(url: string): BodyFields;
	tool(tool: ToolSpecification): BodyFields;
	/** The body fields that only this provider has. */
	extras(settings: ChatSettings, request: ModelRequest): BodyFields;
}

/** As servers of chat completions take audio that is not the `input_audio` of OpenAI. */
export function audioAtUrl(url: string): BodyFields {
	return { type: "audio_url", audio_url: { url } };
}
