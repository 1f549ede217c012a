// Settings documents of clients: TOML files near the work directory or in the home directory. The content belongs to
// the client; this file finds, reads and replaces them.

import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { parseToml, settingsLimit } from "../../config/syntax.ts";
import { toTomlText } from "../../config/toml-text.ts";
import { withLock } from "../../files/path-lock.ts";
import type { Files } from "../../files/port.ts";
import type { SettingsDocuments } from "../api.ts";

/**
 * Looks for the document's directory in the work directory and its parents; when none has it, the document is read and
 * created in the home directory.
 */
export function createSettingsDocuments(place: {
	readonly files: Files;
	readonly clock: Clock;
	readonly workDir: string;
	readonly home: string;
}): SettingsDocuments {
	return {
		find(name) {
			let known: Promise<string> | null = null;
			const file = () => {
				known ??= findFile(name, place);
				return known;
			};
			return {
				read: async () => readDocument(await file(), place.files),
				async update(change) {
					const { files } = place;
					const target = await file();
					await withStorageError(target, () => files.makeDirectory(path.dirname(target)));
					await withLock(place, target, async () => {
						const text = toTomlText(change(await readDocument(target, files)));
						if (text.length > settingsLimit) {
							throw new KernelError(
								"storage-failed",
								`${target} may have ${settingsLimit} characters, not ${text.length}.`,
							);
						}
						await withStorageError(target, () => files.replace(target, text, { sync: true }));
					});
				},
			};
		},
	};
}

async function findFile(
	name: string,
	{ files, workDir, home }: { readonly files: Files; readonly workDir: string; readonly home: string },
): Promise<string> {
	for (let directory = workDir; ; directory = path.dirname(directory)) {
		const holder = await files.status(path.dirname(path.join(directory, name))).catch(() => null);
		if (holder?.kind === "directory") return path.join(directory, name);
		if (directory === path.dirname(directory)) return path.join(home, name);
	}
}

async function readDocument(file: string, files: Files): Promise<Readonly<Record<string, unknown>>> {
	const bytes = await withStorageError(file, () => files.read(file));
	if (bytes === null) return {};
	const parsed = await parseToml(bytes.toString("utf8").replace(/^\ufeff/, ""));
	if (!parsed.ok) throw new KernelError("storage-failed", `Cannot read ${file}: it is ${parsed.reason}`);
	return isRecord(parsed.value) ? parsed.value : {};
}

async function withStorageError<T>(file: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		const reason = thrown instanceof Error ? thrown.message : String(thrown);
		throw new KernelError("storage-failed", `Cannot use ${file}: ${reason}`, { cause: thrown });
	}
}
