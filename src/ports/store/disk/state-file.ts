// `state.json` of a session (agent-kernel §13.5). Other programs also write the title and archive keys and keys unknown
// here: all these are read from the disk before each save.
import path from "node:path";
import * as v from "valibot";
import { todoSchema } from "../../../api/values/content.ts";
import { isRecord, parseJsonFile } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import { createPace } from "../../../base/pace.ts";
import type { FileReader, Files } from "../../files/port.ts";
import type { SessionState } from "../session-store.ts";
import { damagedPath } from "./logs/damaged-file.ts";
import { withStorageError } from "./logs/storage-error.ts";
import { isWorkDir } from "./work-dir.ts";

export const stateName = "state.json";
const legacyName = "metadata.json";

const flag = v.optional(v.boolean(), false);
const count = v.optional(v.pipe(v.number(), v.integer()), 0);
const text = v.optional(v.nullable(v.string()), null);
const time = v.optional(v.nullable(v.number()), null);
const texts = v.optional(v.array(v.string()), () => []);

/** Other programs may have stored any number of keys, which stay. */
const pace = createPace();

/** All keys in the order of the file; unknown keys follow. */
const storedSchema = v.looseObject({
	version: v.optional(v.pipe(v.number(), v.integer()), 1),
	approval: v.optional(v.looseObject({ yolo: flag, afk: flag, auto_approve_actions: texts }), {}),
	additional_dirs: texts,
	custom_title: text,
	title_generated: flag,
	title_generate_attempts: count,
	plan_mode: flag,
	plan_session_id: text,
	plan_slug: text,
	wire_mtime: time,
	archived: flag,
	archived_at: time,
	auto_archive_exempt: flag,
	todos: v.optional(v.array(todoSchema), () => []),
	forked_from: v.exactOptional(v.nullable(v.string())),
});
type Stored = v.InferOutput<typeof storedSchema>;

/** The `metadata.json` of versions before `state.json`. */
const legacySchema = v.object({
	title: v.optional(v.nullable(v.string())),
	title_generated: v.optional(v.boolean()),
	title_generate_attempts: v.optional(v.pipe(v.number(), v.integer())),
	wire_mtime: v.optional(v.nullable(v.number())),
	archived: v.optional(v.boolean()),
	archived_at: v.optional(v.nullable(v.number())),
	auto_archive_exempt: v.optional(v.boolean()),
});

function defaults(): Stored {
	return v.parse(storedSchema, {});
}

/** The state of a session that has none yet. */
export function initialState(): SessionState {
	return toState(defaults());
}

/** The state of a session that was stopped before it had a context: what clients decided about it; the rest begins afresh. */
export function withoutContext({ customTitle, archivedAt, creationOptions, forkedFrom }: SessionState): SessionState {
	return { ...initialState(), customTitle, archivedAt, creationOptions, forkedFrom };
}

/** Plain file names without extension: others would lead out of the directory of the plans. */
const slugPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * A value that becomes a path is checked when it is read: anybody may have changed the file. Null for an invalid one.
 */
function toPlanSlug({ plan_slug: slug }: Stored): string | null {
	return slug !== null && slugPattern.test(slug) ? slug : null;
}

/** The keys of dropped values that would become invalid paths. */
function droppedKeys(stored: Stored): string[] {
	return [
		...(toPlanSlug(stored) === stored.plan_slug ? [] : ["plan_slug"]),
		...(stored.additional_dirs.every(isWorkDir) ? [] : ["additional_dirs"]),
	];
}

function toState(stored: Stored): SessionState {
	return {
		approval: {
			yolo: stored.approval.yolo,
			afk: stored.approval.afk,
			autoApproveActions: stored.approval.auto_approve_actions,
		},
		additionalDirs: stored.additional_dirs.filter(isWorkDir),
		customTitle: stored.custom_title,
		planMode: stored.plan_mode,
		planSessionId: stored.plan_session_id,
		planSlug: toPlanSlug(stored),
		todos: stored.todos,
		archivedAt: stored.archived ? (stored.archived_at ?? 0) : null,
		creationOptions: stored["made_with"] ?? null,
		forkedFrom: stored.forked_from ?? null,
	};
}

function toStored(state: SessionState, base: Stored): Stored {
	return {
		...base,
		approval: {
			...base.approval,
			yolo: state.approval.yolo,
			afk: state.approval.afk,
			auto_approve_actions: [...state.approval.autoApproveActions],
		},
		additional_dirs: [...state.additionalDirs],
		custom_title: state.customTitle,
		plan_mode: state.planMode,
		plan_session_id: state.planSessionId,
		plan_slug: state.planSlug,
		todos: [...state.todos],
	};
}

/** Values that other programs write too, and invalid ones, stay unchanged unless they are set here. */
function withChange(base: Stored, { archivedAt, creationOptions, forkedFrom }: Partial<SessionState>): Stored {
	const archive = archivedAt === undefined ? {} : { archived: archivedAt !== null, archived_at: archivedAt };
	const made = creationOptions === undefined ? {} : { made_with: creationOptions };
	const forked = forkedFrom === undefined ? {} : { forked_from: forkedFrom };
	return { ...base, ...archive, ...made, ...forked };
}

/** Null when the bytes are not JSON of this shape. */
async function parseAs<S extends v.GenericSchema>(schema: S, bytes: Buffer): Promise<v.InferOutput<S> | null> {
	let value: unknown;
	try {
		value = await pace.run(() => parseJsonFile(bytes));
	} catch {
		return null;
	}
	const parsed = await pace.run(() => v.safeParse(schema, value));
	return parsed.success && isRecord(value) ? parsed.output : null;
}

/** Fields still at their default get the value of the old file. */
function withLegacy(stored: Stored, legacy: v.InferOutput<typeof legacySchema>): Stored {
	return {
		...stored,
		custom_title: stored.custom_title ?? legacy.title ?? null,
		title_generated: stored.title_generated || (legacy.title_generated ?? false),
		title_generate_attempts: stored.title_generate_attempts || (legacy.title_generate_attempts ?? 0),
		wire_mtime: stored.wire_mtime ?? legacy.wire_mtime ?? null,
		archived: stored.archived || (legacy.archived ?? false),
		archived_at: stored.archived_at ?? legacy.archived_at ?? null,
		auto_archive_exempt: stored.auto_archive_exempt || (legacy.auto_archive_exempt ?? false),
	};
}

/** The content of a session directory's files. */
interface Found {
	/** Null for a missing or damaged file. */
	readonly stored: Stored | null;
	readonly damaged: boolean;
	/** Whether `metadata.json` was merged into it. */
	readonly legacy: boolean;
}

async function find(files: Pick<FileReader, "read">, directory: string): Promise<Found> {
	const read = (name: string) => files.read(path.join(directory, name));
	const [bytes, oldBytes] = await Promise.all([read(stateName), read(legacyName)]);
	const stored = bytes === null ? null : await parseAs(storedSchema, bytes);
	const old = oldBytes === null ? null : await parseAs(legacySchema, oldBytes);
	return {
		stored: old === null ? stored : withLegacy(stored ?? defaults(), old),
		damaged: bytes !== null && stored === null,
		legacy: old !== null,
	};
}

/** What a list of sessions says of the state. */
export interface ListedState {
	/** From another program or an earlier turn. */
	readonly title: string | null;
	/** In seconds since the epoch; null for a session that is not archived. */
	readonly archivedAt: number | null;
	/** Whether the file cannot be read. */
	readonly damaged: boolean;
}

/** The title and the archive fields. */
export async function readListedState(files: Files, directory: string): Promise<ListedState> {
	const { stored, damaged } = await find(files, directory);
	const archivedAt = stored === null ? null : toState(stored).archivedAt;
	return { title: stored?.custom_title ?? null, archivedAt, damaged };
}

/** The slug of a session's current plan; null when it has none. */
export async function readPlanSlug(files: Files, directory: string): Promise<string | null> {
	const { stored } = await find(files, directory);
	return stored === null ? null : toPlanSlug(stored);
}

export interface StateFile {
	state(): SessionState;
	/** Whether the file has to be written again although nothing changes. */
	isStale(): boolean;
	/** Applies the change and saves it. When that fails with `storage-failed`, the change is saved with the next one. */
	update(change: Partial<SessionState>): Promise<void>;
}

export interface StateFileOptions {
	readonly files: Files;
	/** How they were found when the session was opened: one that was missing is not looked for again. */
	readonly found: Pick<FileReader, "status">;
	readonly log: Log;
	readonly directory: string;
	/**
	 * Whether the session starts afresh: it may have been stopped before it had a context. See `withoutContext`. Foreign keys
	 * are preserved.
	 */
	readonly fresh: boolean;
	/** What the journal has and the file may lack. */
	recovered(found: { readonly isMissing: boolean; readonly modifiedAt: number }): Promise<Partial<SessionState> | null>;
}

/** Reads the state; a damaged file counts as missing and is copied aside before it is replaced. */
export async function openStateFile({
	files,
	log,
	directory,
	fresh,
	...options
}: StateFileOptions): Promise<StateFile> {
	const statePath = path.join(directory, stateName);
	// Other programs replace it at any time: it has the length that it has then, and not the one that it was found with.
	const read = async (file: string) => ((await options.found.status(file)) === null ? null : await files.read(file));
	const opened = await find({ read }, directory);
	if (opened.damaged) log.warn("the session state could not be read; defaults apply", { path: statePath });
	const recovered = await options.recovered({
		isMissing: opened.stored === null,
		modifiedAt: (await options.found.status(statePath))?.modifiedAt ?? 0,
	});
	/** The last known content of the file, for when it cannot be read any more. */
	let known = opened.stored ?? defaults();
	const before = toState(known);
	// Through the form of the file, so that it is checked as that is.
	const found =
		recovered === null ? before : toState(toStored({ ...before, ...recovered }, withChange(known, recovered)));
	for (const key of fresh ? [] : droppedKeys(known)) {
		log.warn("what the session state says cannot be a path and is dropped", { path: statePath, key });
	}
	let current = fresh ? withoutContext(found) : found;
	/** What was changed since the state was taken that is being saved. */
	let since: Partial<SessionState> = {};
	/** What was not saved. */
	let unsaved: Partial<SessionState> | null = recovered;
	let last: Promise<unknown> = Promise.resolve();

	const save = async (change: Partial<SessionState>): Promise<void> => {
		const found = await find(files, directory);
		const base = found.stored ?? known;
		const renamed = base.custom_title !== known.custom_title;
		const state = renamed ? { ...current, customTitle: base.custom_title } : current;
		since = {};
		const changed = await pace.run(() => withChange(base, change));
		const stored = await pace.run(() => toStored(state, changed));
		if (found.damaged) {
			const aside = await damagedPath(files, statePath);
			await files.replace(aside, (await files.read(statePath)) ?? "");
			log.warn("the damaged session state was copied aside", { path: statePath, copiedTo: aside });
		}
		// It changes rarely. After a loss of power an older one could not be distinguished from one that another program wrote.
		const text = await pace.run(() => JSON.stringify(stored, null, 2));
		await files.replace(statePath, text, { sync: true });
		known = stored;
		current = { ...state, archivedAt: toState(stored).archivedAt, ...since };
		if (found.legacy) await files.remove(path.join(directory, legacyName));
	};

	return {
		state: () => current,
		isStale: () => unsaved !== null,
		update(change) {
			current = { ...current, ...change };
			since = { ...since, ...change };
			const all = { ...unsaved, ...change };
			unsaved = all;
			const next = last.then(async () => {
				await withStorageError(statePath, () => save(all));
				if (unsaved === all) unsaved = null;
			});
			last = next.catch(() => undefined);
			return next;
		},
	};
}
