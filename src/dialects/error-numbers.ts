// The shape of a dialect's error table: every kernel code has a number and a text there.
import { KernelError, type KernelErrorCode, toKernelError } from "../base/errors.ts";
import type { TurnError } from "../events/event.ts";
import type { ErrorObject } from "../rpc/envelope.ts";

export interface ErrorNumber {
	readonly code: number;
	/** The dialect's text; without it the kernel's own is sent. */
	readonly text?: (kernelText: string) => string;
	/** What the kernel knows besides is not sent: clients of this error expect null. */
	readonly isBare?: true;
}

export type ErrorNumbers = { readonly [C in KernelErrorCode]: ErrorNumber };

export function toErrorObject(numbers: ErrorNumbers, thrown: unknown): ErrorObject {
	const { code, message, data } = toKernelError(thrown);
	const number = numbers[code];
	return { code: number.code, message: number.text?.(message) ?? message, data: number.isBare ? null : data };
}

/** A failed turn as an error that can be thrown to the peer. */
export function toThrown({ code, message, data }: TurnError): KernelError {
	return new KernelError(code, message, { data });
}
