// Migrates the tables to this program's version, and rejects other versions.
import * as v from "valibot";
import { KernelError } from "../../../base/errors.ts";
import type { Database, Query } from "./database.ts";
import { type Migration, migrations } from "./migrations.ts";

const lockNumber = 7_240_915_533;

const versionSchema = v.tuple([v.object({ version: v.pipe(v.unknown(), v.transform(Number), v.integer()) })]);

export interface MigrationResult {
	readonly from: number;
	readonly to: number;
}

function newest(known: readonly Migration[]): number {
	return Math.max(0, ...known.map(({ number }) => number));
}

async function readVersion(query: Query, schema: string): Promise<number> {
	// Queries the catalog: the connection may have cached, before waiting for the lock, that no such table exists.
	const [found] = await query(
		`select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where '"' || replace(n.nspname, '"', '""') || '"' = $1 and c.relname = 'schema_version'`,
		[schema],
	);
	if (found === undefined) return 0;
	const rows = await query(`select coalesce(max(version), 0) as version from ${schema}.schema_version`);
	const [{ version }] = v.parse(versionSchema, rows);
	return version;
}

/** Null unless the tables are newer than this program. */
function whyTooNew({ name }: Database, version: number, known: readonly Migration[]): string | null {
	if (version <= newest(known)) return null;
	return `The tables in the database ${name} have version ${version}, and this program knows ${newest(known)}: install a newer agentwire.`;
}

function refuseUnfit(why: string | null): void {
	if (why !== null) throw new KernelError("storage-failed", why);
}

/** Runs missing migrations, each in a transaction, one process at a time. Fails for newer tables. */
export async function migrate(database: Database, known: readonly Migration[] = migrations): Promise<MigrationResult> {
	const { schema } = database;
	return await database.transaction(async (query) => {
		await query("select pg_advisory_xact_lock($1)", [lockNumber]);
		const from = await readVersion(query, schema);
		refuseUnfit(whyTooNew(database, from, known));
		if (from === 0) {
			await query(`create schema if not exists ${schema}`);
			await query(
				`create table if not exists ${schema}.schema_version (version integer primary key, applied_at timestamptz not null default now())`,
			);
		}
		for (const { number, text } of known) {
			if (number <= from) continue;
			await query(text(schema));
			await query(`insert into ${schema}.schema_version (version) values ($1)`, [number]);
		}
		return { from, to: newest(known) };
	});
}

/** The table version in the database (0 if empty), and the version this program needs. */
export async function schemaVersion(database: Database): Promise<{ readonly found: number; readonly needed: number }> {
	const query: Query = (text, values) => database.query(text, values);
	return { found: await readVersion(query, database.schema), needed: newest(migrations) };
}

function whyOther(database: Database, found: number, needed: number): string | null {
	if (found === needed || found === 0) return null;
	return (
		whyTooNew(database, found, migrations) ??
		`The tables in the database ${database.name} have version ${found}, and this program needs ${needed}: run agentwire store migrate.`
	);
}

/** Why this program cannot use the existing tables: another version created them. Null if it can, or if it will create them. */
export async function whyUnfit(database: Database): Promise<string | null> {
	const { found, needed } = await schemaVersion(database);
	return whyOther(database, found, needed);
}

/** Creates the tables in an empty database. Fails `storage-failed` for older or newer ones. */
export async function prepareSchema(database: Database): Promise<void> {
	const { found, needed } = await schemaVersion(database);
	refuseUnfit(whyOther(database, found, needed));
	if (found === 0) await migrate(database);
}
