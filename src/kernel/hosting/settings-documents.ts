// Client settings documents: TOML files near the working directory or in the home directory. Clients own the content.
import { isUtf8 } from "node:buffer";
import path from "node:path";
import type { SettingsDocument, SettingsDocuments } from "../../api/kernel.ts";
import { createBatchedWork } from "../../base/batched-work.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { withLock } from "../../ports/files/path-lock.ts";
import type { Files } from "../../ports/files/port.ts";
import { parseToml, settingsLimit } from "../../settings/config/syntax.ts";
import {
	applyTomlChanges,
	findTomlChanges,
	isTomlTable,
	type TomlDocument,
} from "../../settings/config/toml-changes.ts";
import { toTomlText } from "../../settings/config/toml-text.ts";

interface Place {
	readonly files: Files;
	readonly clock: Clock;
	readonly workDir: string;
	readonly home: string;
	/** Contains every document by file name. When absent, documents are looked up. */
	readonly only?: string;
}

/** Searches the working directory and its parents for the document directory. Falls back to the home directory. */
export function createSettingsDocuments(place: Place): SettingsDocuments {
	const known = new Map<string, SettingsDocument>();
	return {
		find(name) {
			const document = known.get(name) ?? createDocument(name, place);
			known.set(name, document);
			return document;
		},
	};
}

type Content = Readonly<Record<string, unknown>>;

/** A pending change. A failed change does not affect others. */
interface Update {
	readonly change: Parameters<SettingsDocument["update"]>[0];
	outcome: { readonly document: Content } | { readonly thrown: unknown } | null;
}

function createDocument(name: string, place: Place): SettingsDocument {
	const { files } = place;
	let found: Promise<string> | null = null;
	const file = () => {
		found ??= findFile(name, place);
		return found;
	};

	/** Returns the text after all applicable changes, or null when unchanged. */
	const apply = async (updates: readonly Update[], target: string): Promise<string | null> => {
		let document = await readDocument(target, files, true);
		let isChanged = false;
		for (const update of updates) {
			try {
				document = await withChange(document, update.change(document.data), target);
				isChanged = true;
				update.outcome = { document: document.data };
			} catch (thrown) {
				update.outcome = { thrown };
			}
		}
		return isChanged ? document.text : null;
	};
	// Clients send many changes at once, and each replacement waits for the disk.
	const write = createBatchedWork<Update>(async (updates) => {
		const target = await file();
		await withStorageError(target, () => files.makeDirectory(path.dirname(target)));
		await withLock(place, target, async () => {
			const text = await apply(updates, target);
			if (text !== null)
				await withStorageError(target, () => files.replace(target, text, { inPlaceIfNeeded: true, sync: true }));
		});
	});

	return {
		read: async () => (await readDocument(await file(), files)).data,
		async update(change) {
			const asked: Update = { change, outcome: null };
			await write(asked);
			const { outcome } = asked;
			if (outcome === null) throw new KernelError("storage-failed", `${await file()} was not written.`);
			if ("thrown" in outcome) throw outcome.thrown;
			return outcome.document;
		},
	};
}

/** Replaces the data, keeps other text and comments. Throws `storage-failed` if unwritable or too long to read. */
async function withChange(document: TomlDocument, data: Content, target: string): Promise<TomlDocument> {
	const changes = findTomlChanges(document.data, data);
	const changed = changes === null ? null : await applyTomlChanges(document, changes);
	return changed ?? (await anew(data, target));
}

/** Rewrites the document: not every value can be changed in place. */
async function anew(data: Content, target: string): Promise<TomlDocument> {
	if (!isTomlTable(data))
		throw new KernelError("storage-failed", `${target} cannot be changed in its place; change it by hand.`);
	const text = toTomlText(data);
	if (text.length > settingsLimit) {
		throw new KernelError("storage-failed", `${target} may have ${settingsLimit} characters, not ${text.length}.`);
	}
	return { text, data: await parseDocument(text, target) };
}

async function findFile(name: string, { files, workDir, home, only }: Place): Promise<string> {
	if (only !== undefined) return path.join(only, path.basename(name));
	for (let directory = workDir; ; directory = path.dirname(directory)) {
		const holder = await files.status(path.dirname(path.join(directory, name))).catch(() => null);
		if (holder?.kind === "directory") return path.join(directory, name);
		if (directory === path.dirname(directory)) return path.join(home, name);
	}
}

/** Empty when the file is missing. */
async function readDocument(file: string, files: Files, isChanged = false): Promise<TomlDocument> {
	const bytes = (await withStorageError(file, () => files.read(file))) ?? Buffer.alloc(0);
	// Unchanged bytes would be written back as other characters.
	if (isChanged && !isUtf8(bytes))
		throw new KernelError("storage-failed", `${file} is not UTF-8 and was not changed; fix it and try again.`);
	const text = bytes.toString("utf8").replace(/^\ufeff/, "");
	return { text, data: await parseDocument(text, file) };
}

async function parseDocument(text: string, file: string): Promise<Content> {
	const parsed = await parseToml(text);
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
