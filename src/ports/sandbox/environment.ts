// The environment of commands: the program's environment without provider keys and access to other sessions.
import type { SandboxSettings } from "../../settings/config/configuration.ts";

/** Variables for model provider keys, collector keys and the session database. */
const keyNames: ReadonlySet<string> = new Set(
	(
		"AGENTWIRE_STORE_PASSWORD_FILE AGENTWIRE_STORE_URL " +
		"AI_GATEWAY_API_KEY AI21_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_FOUNDRY_API_KEY ANYSCALE_API_KEY " +
		"ARK_API_KEY AZURE_API_KEY AZURE_OPENAI_API_KEY BASETEN_API_KEY CEREBRAS_API_KEY CLAUDE_CODE_OAUTH_TOKEN " +
		"COHERE_API_KEY CO_API_KEY DASHSCOPE_API_KEY DEEPINFRA_API_KEY DEEPINFRA_TOKEN DEEPSEEK_API_KEY FIREWORKS_API_KEY " +
		"GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY GROQ_API_KEY HUGGINGFACE_API_KEY KIMI_API_KEY " +
		"MINIMAX_API_KEY MISTRAL_API_KEY MOONSHOT_API_KEY NEBIUS_API_KEY NVIDIA_API_KEY OPENAI_API_KEY OPENROUTER_API_KEY " +
		"PERPLEXITY_API_KEY REPLICATE_API_TOKEN RKAT_ANTHROPIC_API_KEY RKAT_GEMINI_API_KEY RKAT_OPENAI_API_KEY " +
		"SAMBANOVA_API_KEY SILICONFLOW_API_KEY TOGETHER_API_KEY VERTEX_API_KEY OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TRACES_HEADERS " +
		"VOLCENGINE_API_KEY VOYAGE_API_KEY XAI_API_KEY ZAI_API_KEY ZHIPUAI_API_KEY"
	).split(" "),
);

function matches(name: string, pattern: string): boolean {
	return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** `keys`: variables with such values are dropped. `pass` overrides every drop; `set` is applied last. */
export function toCommandEnvironment(
	environment: Readonly<Record<string, string>>,
	{ pass, set, drop }: SandboxSettings["environment"],
	keys: readonly string[],
): Record<string, string> {
	const values = new Set(keys.filter((key) => key !== ""));
	const isGiven = ([name, value]: [string, string]): boolean => {
		if (pass.some((pattern) => matches(name, pattern))) return true;
		return !keyNames.has(name.toUpperCase()) && !values.has(value) && !drop.some((pattern) => matches(name, pattern));
	};
	return { ...Object.fromEntries(Object.entries(environment).filter(isGiven)), ...set };
}
