// A session's `state.json` (agent-kernel §13.5). Each save first re-reads what other programs write: title, archive and unknown keys.
import path from "node:path";
import * as v from "valibot";
import { todoSchema } from "../../../api/values/content.ts";
import { isRecord, parseJsonFile } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
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

/** All keys in file order; unknown keys, which other programs may have stored, follow. */
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

export function initialState(): SessionState {
	return toState(defaults());
}

/** The state of a session that was stopped before it had a context: keeps the clients' choices; the rest starts over. */
export function withoutContext({ customTitle, archivedAt, creationOptions, forkedFrom }: SessionState): SessionState {
	return { ...initialState(), customTitle, archivedAt, creationOptions, forkedFrom };
}

/** Plain file names without extension, so that none can escape the plan directory. */
const slugPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Validate a value that becomes a path, because other programs can change the file. Null if invalid. */
function toPlanSlug({ plan_slug: slug }: Stored): string | null {
	return slug !== null && slugPattern.test(slug) ? slug : null;
}

/** The keys of values dropped because they would be invalid paths. */
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

/** Values that other programs also write, and invalid ones, stay unchanged unless set here. */
function withChange(base: Stored, { archivedAt, creationOptions, forkedFrom }: Partial<SessionState>): Stored {
	const archive = archivedAt === undefined ? {} : { archived: archivedAt !== null, archived_at: archivedAt };
	const made = creationOptions === undefined ? {} : { made_with: creationOptions };
	const forked = forkedFrom === undefined ? {} : { forked_from: forkedFrom };
	return { ...base, ...archive, ...made, ...forked };
}

function parseAs<S extends v.GenericSchema>(schema: S, bytes: Buffer): v.InferOutput<S> | null {
	let value: unknown;
	try {
		value = parseJsonFile(bytes);
	} catch {
		return null;
	}
	const parsed = v.safeParse(schema, value);
	return parsed.success && isRecord(value) ? parsed.output : null;
}

/** Fields still at their default get the value from the old file. */
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

interface Found {
	readonly stored: Stored | null;
	readonly damaged: boolean;
	readonly legacy: boolean;
}

async function find(files: Pick<FileReader, "read">, directory: string): Promise<Found> {
	const read = (name: string) => files.read(path.join(directory, name));
	const [bytes, oldBytes] = await Promise.all([read(stateName), read(legacyName)]);
	const stored = bytes === null ? null : parseAs(storedSchema, bytes);
	const old = oldBytes === null ? null : parseAs(legacySchema, oldBytes);
	return {
		stored: old === null ? stored : withLegacy(stored ?? defaults(), old),
		damaged: bytes !== null && stored === null,
		legacy: old !== null,
	};
}

export interface ListedState {
	/** From another program or an earlier turn. */
	readonly title: string | null;
	readonly archivedAt: number | null;
	readonly damaged: boolean;
}

export async function readListedState(files: Files, directory: string): Promise<ListedState> {
	const { stored, damaged } = await find(files, directory);
	const archivedAt = stored === null ? null : toState(stored).archivedAt;
	return { title: stored?.custom_title ?? null, archivedAt, damaged };
}

export async function readPlanSlug(files: Files, directory: string): Promise<string | null> {
	const { stored } = await find(files, directory);
	return stored === null ? null : toPlanSlug(stored);
}

export interface StateFile {
	state(): SessionState;
	/** Whether the file must be rewritten even without changes. */
	isStale(): boolean;
	/** Applies and saves the change. If that fails with `storage-failed`, the change is saved with the next one. */
	update(change: Partial<SessionState>): Promise<void>;
}

export interface StateFileOptions {
	readonly files: Files;
	/** The files as found at opening: a missing one is not looked up again. */
	readonly found: Pick<FileReader, "status">;
	readonly log: Log;
	readonly directory: string;
	/** Whether the session starts over; see `withoutContext`. Preserves foreign keys. */
	readonly fresh: boolean;
	/** Journal state that the file may lack. */
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
	// Other programs replace the file at any time: use its current length, not the length found at opening.
	const read = async (file: string) => ((await options.found.status(file)) === null ? null : await files.read(file));
	const opened = await find({ read }, directory);
	if (opened.damaged) log.warn("the session state could not be read; defaults apply", { path: statePath });
	const recovered = await options.recovered({
		isMissing: opened.stored === null,
		modifiedAt: (await options.found.status(statePath))?.modifiedAt ?? 0,
	});
	/** The file's last known content, used if it becomes unreadable. */
	let known = opened.stored ?? defaults();
	const before = toState(known);
	// Converted through the file format, to get the same validation.
	const found =
		recovered === null ? before : toState(toStored({ ...before, ...recovered }, withChange(known, recovered)));
	for (const key of fresh ? [] : droppedKeys(known)) {
		log.warn("what the session state says cannot be a path and is dropped", { path: statePath, key });
	}
	let current = fresh ? withoutContext(found) : found;
	/** Changes since the state being saved was captured. */
	let since: Partial<SessionState> = {};
	let unsaved: Partial<SessionState> | null = recovered;
	let last: Promise<unknown> = Promise.resolve();

	const save = async (change: Partial<SessionState>): Promise<void> => {
		const found = await find(files, directory);
		const base = found.stored ?? known;
		const renamed = base.custom_title !== known.custom_title;
		const state = renamed ? { ...current, customTitle: base.custom_title } : current;
		since = {};
		const changed = withChange(base, change);
		const stored = toStored(state, changed);
		if (found.damaged) {
			const aside = await damagedPath(files, statePath);
			await files.replace(aside, (await files.read(statePath)) ?? "");
			log.warn("the damaged session state was copied aside", { path: statePath, copiedTo: aside });
		}
		// The file rarely changes. After a power loss, an older version would look like another program's change.
		const text = JSON.stringify(stored, null, 2);
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
