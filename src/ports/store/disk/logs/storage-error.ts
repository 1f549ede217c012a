// The error for clients when the disk fails: the path and the cause, under one code.
import { KernelError } from "../../../../base/errors.ts";
import { fileFailureReason } from "../../../files/file-failure.ts";

/** A `storage-failed` error with the path, the cause and what to do; an error that already is one stays unchanged. */
export function toStorageError(path: string, thrown: unknown): KernelError {
	if (thrown instanceof KernelError) return thrown;
	return new KernelError("storage-failed", `Cannot write ${path}: ${fileFailureReason(thrown)}`, { cause: thrown });
}

/** Runs file work; converts whatever it throws to `storage-failed` with `path`. */
export async function withStorageError<T>(path: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		throw toStorageError(path, thrown);
	}
}
