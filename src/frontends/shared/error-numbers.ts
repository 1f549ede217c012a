// The error table of a dialect: a number and a text for every kernel code.

import type { TurnError } from "../../api/values/event.ts";
import { KernelError, type KernelErrorCode, toKernelError } from "../../base/errors.ts";
import type { ErrorObject } from "../../ports/rpc/envelope.ts";

export interface ErrorNumber {
	readonly code: number;
	/** The dialect's text; absent for the kernel's own. */
	readonly text?: (kernelText: string) => string;
	/** The error's data are not sent: clients of this error expect null. */
	readonly isBare?: true;
}

export type ErrorNumbers = { readonly [C in KernelErrorCode]: ErrorNumber };

export function toErrorObject(numbers: ErrorNumbers, thrown: unknown): ErrorObject {
	const { code, message, data } = toKernelError(thrown);
	const number = numbers[code];
	return { code: number.code, message: number.text?.(message) ?? message, data: number.isBare ? null : data };
}

/** Converts a failed turn to an error that can be thrown to the peer. */
export function toThrown({ code, message, data }: TurnError): KernelError {
	return new KernelError(code, message, { data });
}
