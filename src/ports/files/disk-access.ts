import { systemErrorCode } from "../../base/errors.ts";
import type { Admit } from "./port.ts";
import type { Closing, PrivacyOf } from "./private-paths.ts";

export const newFileMode = 0o666;
export const privateFileMode = 0o600;

export interface Access {
	readonly privacyOf: PrivacyOf;
	readonly closing: Closing;
	/** All of them check every opened file. */
	readonly admits: readonly Admit[];
}

function isMissing(thrown: unknown): boolean {
	const code = systemErrorCode(thrown);
	return code === "ENOENT" || code === "ENOTDIR";
}

export async function orNullWhenMissing<T>(work: Promise<T>): Promise<T | null> {
	try {
		return await work;
	} catch (thrown) {
		if (isMissing(thrown)) return null;
		throw thrown;
	}
}
