// In what the servers of chat completions differ: one value of this type for each provider type.
import type { ModelRequest, ToolSpecification } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

export type ChatSettings = Omit<ModelSettings, "environment" | "home" | "readFile" | "trace" | "providerType">;

export type BodyFields = Readonly<Record<string, unknown>>;

export interface ChatFlavour {
	/** The key under which thoughts are sent back; null to keep them. */
	reasoningKey(settings: ChatSettings): string | null;
	/** What stands for the thoughts of a message with tool calls that has none; null to leave the key out. */
	absentReasoning(settings: ChatSettings): string | null;
	/** Empty content beside tool calls: left out, or null. */
	readonly emptyContentWithCalls: "omitted" | "null";
	/** Whether tool messages carry the tool's name. */
	readonly namesToolMessages: boolean;
	tool(tool: ToolSpecification): BodyFields;
	/** The fields of the body that only this provider has. */
	extras(settings: ChatSettings, request: ModelRequest): BodyFields;
}
