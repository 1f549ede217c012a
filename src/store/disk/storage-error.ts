// What a client is told when the disk refuses: the path and the cause, under one code.
import { errorText, KernelError } from "../../base/errors.ts";

/** A `storage-failed` error naming the path and the cause; one that is already such an error is kept. */
export function toStorageError(path: string, thrown: unknown): KernelError {
	if (thrown instanceof KernelError) return thrown;
	return new KernelError("storage-failed", `Cannot write ${path}: ${errorText(thrown)}`, { cause: thrown });
}

/** Runs file work; whatever it throws becomes `storage-failed`, naming `path`. */
export async function withStorageError<T>(path: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		throw toStorageError(path, thrown);
	}
}
