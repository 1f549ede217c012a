// Settings documents of clients: TOML files near the work directory or in the home directory. The content belongs to
// the client; this file finds, reads and replaces them.
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { createBatchedWork } from "../../base/batched-work.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { createPace } from "../../base/pace.ts";
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
import type { SettingsDocument, SettingsDocuments } from "../api.ts";

interface Place {
	readonly files: Files;
	readonly clock: Clock;
	readonly workDir: string;
	readonly home: string;
	/** Has every document, by the name of its file; absent to look for them. */
	readonly only?: string;
}

/**
 * Looks for the document's directory in the work directory and its parents; when none has it, the document is read and
 * created in the home directory.
 */
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

/** A change that waits to be applied; one that fails leaves the others as they are. */
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

	/** The text after all changes that can be applied; null when there is none. */
	const apply = async (updates: readonly Update[], target: string): Promise<string | null> => {
		let document = await readDocument(target, files, true);
		let isChanged = false;
		const pace = createPace();
		for (const update of updates) {
			await pace.rest();
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
	// Clients send many changes at once; each replacement waits for the disk.
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

/**
 * The document with other data; everything else in its text stays as it is written, comments included. Throws
 * `storage-failed` when it cannot be written, or would be too long to be read again.
 */
async function withChange(document: TomlDocument, data: Content, target: string): Promise<TomlDocument> {
	const changes = findTomlChanges(document.data, data);
	const changed = changes === null ? null : await applyTomlChanges(document, changes);
	return changed ?? (await anew(data, target));
}

/** Written anew: not every form of a value can be changed in its place. */
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

/** Empty when there is no file. */
async function readDocument(file: string, files: Files, isChanged = false): Promise<TomlDocument> {
	const bytes = (await withStorageError(file, () => files.read(file))) ?? Buffer.alloc(0);
	// What is left as it is written would come back as other characters.
	if (isChanged && !isUtf8(bytes))
		throw new KernelError("storage-failed", `${file} is not UTF-8 and is left as it is; mend it and try again.`);
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
