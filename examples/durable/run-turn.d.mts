export interface GatewayPlace {
	readonly url: string;
	/** One that may control. */
	readonly token: string;
	readonly signal?: AbortSignal;
	/** Milliseconds. */
	readonly patience?: number;
}

export interface KeyedTurn {
	readonly sessionId: string;
	readonly key: string;
	readonly input: string;
}

export interface EndedTurn {
	readonly turnId: string;
	readonly outcome: { readonly status: string };
	readonly text: string;
}

export function runTurn(gateway: GatewayPlace, turn: KeyedTurn): Promise<EndedTurn>;
