import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Files } from "./port.ts";

const pattern = /^\.[0-9a-f]{18}\.tmp$/;

export function temporaryName(): string {
	return `.${randomBytes(9).toString("hex")}.tmp`;
}

export function isTemporaryName(name: string): boolean {
	return pattern.test(name);
}

/** Removes files last written before `before` (milliseconds since the epoch); returns their names. */
export async function sweepTemporaries(files: Files, directory: string, before: number): Promise<readonly string[]> {
	if ((await files.status(directory)) === null) return [];
	const swept: string[] = [];
	for (const { name, kind } of await files.list(directory)) {
		if (kind !== "file" || !isTemporaryName(name)) continue;
		const target = path.join(directory, name);
		const status = await files.status(target);
		if (status === null || status.modifiedAt >= before) continue;
		await files.remove(target);
		swept.push(name);
	}
	return swept;
}
