// Settings documents of clients: TOML files near the work directory or in the home directory. The content belongs to
// the client; this file finds, reads and replaces them.

import path from "node:path";
import { createBatchedWork } from "../../base/batched-work.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { createPace } from "../../base/pace.ts";
import { parseToml, settingsLimit } from "../../config/syntax.ts";
import { removeTomlKey, setTomlKey } from "../../config/toml-edits.ts";
import { type TomlTable, type TomlValue, toTomlText } from "../../config/toml-text.ts";
import { withLock } from "../../files/path-lock.ts";
import type { Files } from "../../files/port.ts";
import type { SettingsDocument, SettingsDocuments } from "../api.ts";

interface Place {
	readonly files: Files;
	readonly clock: Clock;
	readonly workDir: string;
	readonly home: string;
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
		let before = await readFileText(target, files);
		let current = await parseDocument(before, target);
		let text: string | null = null;
		const pace = createPace();
		for (const update of updates) {
			await pace.rest();
			try {
				const changed = await changedText(before, current, update.change(current), target);
				current = await parseDocument(changed, target);
				before = changed;
				text = changed;
				update.outcome = { document: current };
			} catch (thrown) {
				update.outcome = { thrown };
			}
		}
		return text;
	};
	// Clients send many changes at once; each replacement waits for the disk.
	const write = createBatchedWork<Update>(async (updates) => {
		const target = await file();
		await withStorageError(target, () => files.makeDirectory(path.dirname(target)));
		await withLock(place, target, async () => {
			const text = await apply(updates, target);
			if (text !== null) await withStorageError(target, () => files.replace(target, text, { sync: true }));
		});
	});

	return {
		read: async () => readDocument(await file(), files),
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
 * The text with what the change made of the document; everything else in it stays as it is written, comments included.
 * Throws `storage-failed` when it would be too long to be read again.
 */
async function changedText(text: string, current: Content, changed: Content, target: string): Promise<string> {
	const edited = withDifferences(text, current, changed, []);
	const parsed = await parseToml(edited);
	// Not every form of a value can be edited in its place.
	const isEdited = parsed.ok && isSame(parsed.value, changed);
	if (!isEdited && !isTable(changed)) {
		throw new KernelError("storage-failed", `${target} cannot be changed in its place; change it by hand.`);
	}
	const whole = isEdited || !isTable(changed) ? edited : toTomlText(changed);
	if (whole.length <= settingsLimit) return whole;
	throw new KernelError("storage-failed", `${target} may have ${settingsLimit} characters, not ${whole.length}.`);
}

function withDifferences(text: string, current: Content, changed: Content, above: readonly string[]): string {
	let edited = text;
	for (const key of Object.keys(current)) {
		if (!Object.hasOwn(changed, key)) edited = removeTomlKey(edited, [...above, key]);
	}
	for (const [key, value] of Object.entries(changed)) {
		const path = [...above, key];
		const before = Object.hasOwn(current, key) ? current[key] : undefined;
		if (isSame(before, value)) continue;
		if (isPlain(value)) edited = withDifferences(edited, isRecord(before) ? before : {}, value, path);
		else if (isWritable(value)) edited = setTomlKey(edited, path, value);
	}
	return edited;
}

/** Whether the values are the same, whatever made their objects. */
function isSame(one: unknown, other: unknown): boolean {
	if (Array.isArray(one) && Array.isArray(other))
		return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
	if (one instanceof Date && other instanceof Date) return one.toJSON() === other.toJSON();
	if (!isPlain(one) || !isPlain(other)) return Object.is(one, other);
	const names = Object.keys(one);
	const hasAll = names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]));
	return hasAll && names.length === Object.keys(other).length;
}

/** Dates are objects as well. */
const isPlain = (value: unknown): value is Content => isRecord(value) && !(value instanceof Date);

/** Whether it can be written anew; a time of the file itself cannot. */
function isWritable(value: unknown): value is TomlValue {
	if (Array.isArray(value)) return value.every(isWritable);
	if (typeof value === "object" && value !== null) return isTable(value);
	return ["boolean", "number", "string"].includes(typeof value);
}

function isTable(value: unknown): value is TomlTable {
	return isPlain(value) && Object.values(value).every(isWritable);
}

async function findFile(name: string, { files, workDir, home }: Place): Promise<string> {
	for (let directory = workDir; ; directory = path.dirname(directory)) {
		const holder = await files.status(path.dirname(path.join(directory, name))).catch(() => null);
		if (holder?.kind === "directory") return path.join(directory, name);
		if (directory === path.dirname(directory)) return path.join(home, name);
	}
}

async function readDocument(file: string, files: Files): Promise<Content> {
	return await parseDocument(await readFileText(file, files), file);
}

/** Empty when there is no file. */
async function readFileText(file: string, files: Files): Promise<string> {
	const bytes = await withStorageError(file, () => files.read(file));
	return bytes === null ? "" : bytes.toString("utf8").replace(/^\ufeff/, "");
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
