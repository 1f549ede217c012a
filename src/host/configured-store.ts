// The store that the settings and the environment ask for: the disk, or a PostgreSQL database, which is loaded only then.
import { systemClock } from "../base/clock.ts";
import { errorText, KernelError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Files } from "../ports/files/port.ts";
import type { Database } from "../ports/store/postgres/database.ts";
import type { PostgresStore } from "../ports/store/postgres/postgres-store.ts";
import type { StoreSettings } from "../settings/config/configuration.ts";
import { type Place, toAbsolutePath } from "./place.ts";

export interface StorePlace {
	/** For the files that the settings name. */
	readonly files: Files;
	readonly place: Place;
	readonly log: Log;
	/** Where commands of sessions in the database have their files; absent for programs that run none. */
	readonly scratch?: { readonly files: Files; readonly directory: string };
}

/** A file that the settings name. Fails `invalid-input` when it cannot be read. */
async function readNamed(key: string, file: string, { files, place }: StorePlace): Promise<string> {
	const target = toAbsolutePath(file, place);
	const bytes = await files.read(target).catch((thrown: unknown) => {
		throw new KernelError("invalid-input", `store.${key}: ${target} cannot be read: ${errorText(thrown)}.`);
	});
	if (bytes === null) throw new KernelError("invalid-input", `store.${key}: there is no file ${target}.`);
	return bytes.toString("utf8");
}

/** The database of the settings; nothing is connected yet. Fails `invalid-input` for settings that name none. */
export async function openConfiguredDatabase(settings: StoreSettings, given: StorePlace): Promise<Database> {
	const { url, passwordFile, tls } = settings;
	if (url === null) {
		throw new KernelError(
			"invalid-input",
			"The settings name no database: set url in [store] of config.toml, or the variable AGENTWIRE_STORE_URL.",
		);
	}
	const [{ createDatabase }, { parseDatabaseUrl }] = await Promise.all([
		import("../ports/store/postgres/database.ts"),
		import("../ports/store/postgres/database-address.ts"),
	]);
	const authority = tls.caFile === null ? null : await readNamed("tls.ca_file", tls.caFile, given);
	return createDatabase({
		address: parseDatabaseUrl(url),
		...(passwordFile === null
			? {}
			: { readPassword: async () => (await readNamed("password_file", passwordFile, given)).replace(/\r?\n$/, "") }),
		tls: { mode: tls.mode, authority },
		schema: settings.schema,
		poolSize: settings.poolSize,
		log: given.log,
		clock: systemClock,
	});
}

/** The store in the database of the settings. With "expired", a session that another process holds is not waited for. */
export async function openConfiguredStore(
	settings: StoreSettings,
	given: StorePlace,
	takeOver: "patient" | "expired" = "patient",
): Promise<PostgresStore> {
	const { createPostgresStore } = await import("../ports/store/postgres/postgres-store.ts");
	const { owner, needs } = settings;
	return createPostgresStore({
		database: await openConfiguredDatabase(settings, given),
		log: given.log,
		clock: systemClock,
		owner,
		needs,
		takeOver,
		...(given.scratch === undefined ? {} : { scratch: given.scratch }),
	});
}
