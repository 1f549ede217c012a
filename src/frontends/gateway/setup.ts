// A provider with a key, a sign-in, or a scripted demo. Responses never contain a key.
import * as v from "valibot";
import { errorText, KernelError } from "../../base/errors.ts";

export const providerChoices = ["moonshot", "anthropic", "openai", "gemini", "compatible"] as const;

const word = v.pipe(v.string(), v.minLength(1), v.maxLength(1000), v.regex(/^[ -~\u00a0-\uffff]*$/));

const providerEntries = {
	provider: v.picklist(providerChoices),
	key: v.pipe(v.string(), v.maxLength(1000), v.regex(/^[\x21-\x7e]*$/)),
	baseUrl: v.exactOptional(word),
};
export const providerSchema = v.strictObject(providerEntries);
export type ProviderEntry = v.InferOutput<typeof providerSchema>;

export const modelSchema = v.strictObject({
	...providerEntries,
	model: word,
	contextSize: v.pipe(v.number(), v.safeInteger(), v.minValue(1000)),
});
export type ModelEntry = v.InferOutput<typeof modelSchema>;

export interface OfferedModel {
	readonly id: string;
	readonly name: string;
	/** Tokens; null if unknown. */
	readonly contextSize: number | null;
}

export interface Setup {
	/** The models available for this key. Asks the provider, so that a wrong key is found at once. */
	offered(entry: ProviderEntry): Promise<readonly OfferedModel[]>;
	add(entry: ModelEntry): Promise<string>;
	/** Signs in to the platform; calls `show` with what the user has to confirm. */
	signIn(show: (prompt: SignInPrompt) => void, signal: AbortSignal): Promise<void>;
	createDemo(): Promise<{ readonly workDir: string; readonly model: string; readonly input: string }>;
}

export interface SignInPrompt {
	readonly url: string;
	readonly code: string;
}

export const signInSchema = v.object({
	status: v.picklist(["none", "starting", "waiting", "done", "failed"]),
	prompt: v.nullable(v.object({ url: v.string(), code: v.string() })),
	message: v.nullable(v.string()),
});
export type SignInState = v.InferOutput<typeof signInSchema>;

/** One sign-in at a time, visible in every window. */
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
