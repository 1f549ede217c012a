import { Refused } from "./errors.ts";

export interface ErrorObject {
	readonly code: number;
	readonly message: string;
	readonly data?: { readonly code?: string; readonly details?: unknown } | null;
}

export function toRefused({ code, message, data }: ErrorObject): Refused {
	return new Refused(data?.code ?? String(code), message, data?.details ?? null);
}
