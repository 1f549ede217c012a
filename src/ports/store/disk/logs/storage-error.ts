import { KernelError } from "../../../../base/errors.ts";
import { fileFailureReason } from "../../../files/file-failure.ts";

/** Returns a `storage-failed` error with the path, the cause and the next step; keeps an existing one. */
export function toStorageError(path: string, thrown: unknown): KernelError {
	if (thrown instanceof KernelError) return thrown;
	return new KernelError("storage-failed", `Cannot write ${path}: ${fileFailureReason(thrown)}`, { cause: thrown });
}

/** Runs file operations; converts any error to `storage-failed` with `path`. */
export async function withStorageError<T>(path: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		throw toStorageError(path, thrown);
	}
}
