import type { TurnError } from "../../api/values/event.ts";
import { KernelError, type KernelErrorCode, toKernelError } from "../../base/errors.ts";
import type { ErrorObject } from "../../ports/rpc/envelope.ts";

export interface ErrorNumber {
	readonly code: number;
	/** The dialect's text; absent to use the kernel's. */
	readonly text?: (kernelText: string) => string;
	/** Send no error data: clients of this error expect null. */
	readonly isBare?: true;
}

export type ErrorNumbers = { readonly [C in KernelErrorCode]: ErrorNumber };

export function toErrorObject(numbers: ErrorNumbers, thrown: unknown): ErrorObject {
	const { code, message, data } = toKernelError(thrown);
	const number = numbers[code];
	return { code: number.code, message: number.text?.(message) ?? message, data: number.isBare ? null : data };
}

export function toThrown({ code, message, data }: TurnError): KernelError {
	return new KernelError(code, message, { data });
}
