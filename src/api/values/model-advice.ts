// What to do without a model, in the same words everywhere.

export const modelAdvice =
	"Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; or run `agentwire setup`; or try it without a key: `--model scripted`.";

export const noModelText = `No model configured. ${modelAdvice}`;

/** The model that needs no key: see `core/models/scripted/trial.ts`. */
export const scriptedModelName = "scripted";
