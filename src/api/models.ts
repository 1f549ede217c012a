// The models that sessions can use.

/** The valid thinking budget range, and the field that sets it. */
export interface ThinkingBudgets {
	readonly vendor: "anthropic" | "gemini";
	readonly minimum: number;
	/** Null if only the answer's maximum tokens limit it. */
	readonly maximum: number | null;
}

/** Prices per million tokens of each kind. */
export interface ModelPrice {
	readonly currency: string;
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	readonly cacheCreation: number;
}

/** A configured model that a person can choose. */
export interface ModelOption {
	/** Its key in the settings. */
	readonly alias: string;
	/** Display name, or the name sent to the provider. */
	readonly name: string;
	readonly provider: string;
	/** Context window in tokens. */
	readonly maxContextSize: number;
	/** Whether it reasons: always, never, or by choice. */
	readonly thinking: "always" | "never" | "optional";
	/** The range of reasoning tokens a request may set; absent if requests cannot. */
	readonly thinkingBudgets?: ThinkingBudgets;
	/** Accepted inputs besides text. */
	readonly accepts: { readonly image: boolean; readonly audio: boolean; readonly video: boolean };
	/** Null if the settings do not say. */
	readonly price: ModelPrice | null;
}

/** The model that a session uses. */
export interface ModelChoice {
	/** Its key in the settings; null if they do not list it. */
	readonly alias: string | null;
	/** Display name, or the name sent to the provider. */
	readonly name: string;
	/** The provider's key; empty for none. */
	readonly provider: string;
	readonly thinking: boolean;
}

/** The configured models, in order. */
export interface ModelList {
	readonly options: readonly ModelOption[];
	/** The alias that a new session would use, if any. */
	readonly chosen: string | null;
}
