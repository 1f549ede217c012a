// How a person without a model gets one from the page: a provider with its key, a sign-in, or a session with a scripted model. A
// key goes one way: no answer has it.
import * as v from "valibot";
import { errorText, KernelError } from "../../base/errors.ts";

/** Whose models can be added. `compatible` is any service with the API of OpenAI's chat completions, at an address of its own. */
export const providerChoices = ["moonshot", "anthropic", "openai", "gemini", "compatible"] as const;

const word = v.pipe(v.string(), v.minLength(1), v.maxLength(1000), v.regex(/^[ -~\u00a0-\uffff]*$/));

/** A provider, as a person names it. */
const providerEntries = {
	provider: v.picklist(providerChoices),
	key: v.pipe(v.string(), v.maxLength(1000), v.regex(/^[\x21-\x7e]*$/)),
	/** The address of the API; absent for the provider's own. */
	baseUrl: v.exactOptional(word),
};
export const providerSchema = v.strictObject(providerEntries);
export type ProviderEntry = v.InferOutput<typeof providerSchema>;

export const modelSchema = v.strictObject({
	...providerEntries,
	/** The name sent to the provider. */
	model: word,
	/** Tokens. */
	contextSize: v.pipe(v.number(), v.safeInteger(), v.minValue(1000)),
});
export type ModelEntry = v.InferOutput<typeof modelSchema>;

/** A model that a provider offers. */
export interface OfferedModel {
	readonly id: string;
	readonly name: string;
	/** Tokens; null when the provider does not say. */
	readonly contextSize: number | null;
}

/** What the program can do for it. Every method fails with a KernelError whose text is for people. */
export interface Setup {
	/** The models that the provider offers for this key: it asks the provider, so that a wrong key is found at once. */
	offered(entry: ProviderEntry): Promise<readonly OfferedModel[]>;
	/** Adds the model to the settings file of the user; new sessions use it. Gives its alias. */
	add(entry: ModelEntry): Promise<string>;
	/** Signs in to the platform; `show` is called with what the person has to confirm. */
	signIn(show: (prompt: SignInPrompt) => void, signal: AbortSignal): Promise<void>;
	/** Makes a project and a scripted model for it. */
	createDemo(): Promise<{ readonly workDir: string; readonly model: string; readonly input: string }>;
}

export interface SignInPrompt {
	readonly url: string;
	readonly code: string;
}

export const signInSchema = v.object({
	status: v.picklist(["none", "starting", "waiting", "done", "failed"]),
	/** What has to be confirmed where, while it waits. */
	prompt: v.nullable(v.object({ url: v.string(), code: v.string() })),
	/** Why it failed. */
	message: v.nullable(v.string()),
});
export type SignInState = v.InferOutput<typeof signInSchema>;

/** One sign-in at a time, which every window sees. */
export class SignIn {
	readonly #setup: Setup | null;
	#state: SignInState = { status: "none", prompt: null, message: null };
	#running: AbortController | null = null;

	constructor(setup: Setup | null) {
		this.#setup = setup;
	}

	get state(): SignInState {
		return this.#state;
	}

	/** Begins one, unless one is on its way. */
	start(): SignInState {
		const setup = available(this.#setup);
		if (this.#running !== null) return this.#state;
		const running = new AbortController();
		this.#running = running;
		this.#state = { status: "starting", prompt: null, message: null };
		const settle = (state: SignInState) => {
			if (this.#running !== running) return;
			this.#running = null;
			this.#state = state;
		};
		setup
			.signIn((prompt) => {
				if (this.#running === running) this.#state = { status: "waiting", prompt, message: null };
			}, running.signal)
			.then(
				() => settle({ status: "done", prompt: null, message: null }),
				(thrown: unknown) => settle({ status: "failed", prompt: null, message: errorText(thrown) }),
			);
		return this.#state;
	}

	cancel(): SignInState {
		this.#running?.abort();
		this.#running = null;
		this.#state = { status: "none", prompt: null, message: null };
		return this.#state;
	}
}

export function available(setup: Setup | null): Setup {
	if (setup !== null) return setup;
	throw new KernelError(
		"unsupported",
		"The settings of this gateway come from its command line: add the model there, or start it without --config and --config-file.",
	);
}
