import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Network } from "../../ports/network/network.ts";
import type { Capability, ModelRequest } from "./model.ts";

export const providerTypes = [
	"kimi",
	"openai_legacy",
	"openai_responses",
	"anthropic",
	"google_genai",
	"gemini",
	"vertexai",
	"_echo",
	"_scripted_echo",
	"_chaos",
] as const;
export type ProviderType = (typeof providerTypes)[number];

/** Whether thinking is requested on, off, or left to the provider's default. */
export type ThinkingMode = "on" | "off" | "default";

export interface SamplingSettings {
	readonly temperature: number | null;
	readonly topP: number | null;
	/** Maximum tokens of an answer. Null: the automatic cap if the provider has one; zero or less: no cap. */
	readonly maxCompletionTokens: number | null;
	/** The earlier reasoning that the provider preserves; sent while thinking is on. */
	readonly thinkingKeep: string | null;
}

export function samplingOf(
	{ sampling = {} }: Pick<ModelRequest, "sampling">,
	{ sampling: settings }: { readonly sampling: SamplingSettings },
): SamplingSettings {
	return {
		...settings,
		temperature: sampling.temperature ?? settings.temperature,
		topP: sampling.topP ?? settings.topP,
		maxCompletionTokens: sampling.maxTokens ?? settings.maxCompletionTokens,
	};
}

/** Whether thinking is requested: by the request if the model allows a choice, else by the settings. */
export function thinkingOf(
	{ sampling = {} }: Pick<ModelRequest, "sampling">,
	{ thinking: setting, capabilities }: Pick<ModelSettings, "thinking" | "capabilities">,
): ThinkingMode {
	// A thinking budget implies thinking.
	const thinking = sampling.thinking ?? ((sampling.thinkingBudget ?? null) === null ? null : "on");
	if (thinking === null) return setting;
	if (thinking === "off") return capabilities.has("always_thinking") ? setting : "off";
	return capabilities.has("thinking") || capabilities.has("always_thinking") ? "on" : setting;
}

/** Milliseconds. */
export interface ModelTimeouts {
	readonly response: number;
	readonly idle: number;
}

/** Long enough for models that send nothing while they think; connecting has its own limit. */
export const standardTimeouts: ModelTimeouts = { response: 300_000, idle: 300_000 };

export interface ModelSettings {
	readonly providerType: ProviderType;
	/** Root of the provider's API; empty for scripted models. */
	readonly baseUrl: string;
	/** Empty: no Authorization header. */
	readonly apiKey: string;
	/** The provider's name and the setting or variable with its key, for key errors; null for a key from a sign-in. */
	readonly keyHolder: { readonly provider: string; readonly setting: string } | null;
	/** The process environment, overridden by the provider's `env` table. */
	readonly environment: Readonly<Record<string, string>>;
	/** Sent with each request; they override our own headers. */
	readonly customHeaders: Readonly<Record<string, string>>;
	/** The message key for reasoning with `openai_legacy`. Null: `reasoning_content`; empty: reasoning is not sent back. */
	readonly reasoningKey: string | null;
	readonly model: string;
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<Capability>;
	readonly thinking: ThinkingMode;
	readonly sampling: SamplingSettings;
	readonly timeouts: ModelTimeouts;
	readonly network: Pick<Network, "fetch" | "openConnection">;
	/** The client's current name and version for the User-Agent; null before a client has attached. */
	readonly clientName: () => string | null;
	/** The whole file; null if missing. */
	readonly readFile: (path: string) => Promise<Uint8Array | null>;
	/** Receives trace lines without newline. */
	readonly trace: (line: string) => void;
	readonly log: Pick<Log, "warn">;
	readonly version: string;
	readonly home: string;
	readonly clock: Clock;
}

export class ModelConfigurationError extends Error {
	override readonly name = "ModelConfigurationError";
}
