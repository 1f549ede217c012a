import { systemClock } from "../base/clock.ts";
import { errorText, KernelError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Files } from "../ports/files/port.ts";
import type { Database } from "../ports/store/postgres/database.ts";
import type { PostgresStore } from "../ports/store/postgres/postgres-store.ts";
import type { StoreSettings } from "../settings/config/configuration.ts";
import { type Place, toAbsolutePath } from "./place.ts";

export interface StorePlace {
	readonly files: Files;
	readonly place: Place;
	readonly log: Log;
	/** Directory for files of commands in database sessions; absent for programs that run no commands. */
	readonly scratch?: { readonly files: Files; readonly directory: string };
}

/** Fails with `invalid-input` when unreadable. */
async function readNamed(key: string, file: string, { files, place }: StorePlace): Promise<string> {
	const target = toAbsolutePath(file, place);
	const bytes = await files.read(target).catch((thrown: unknown) => {
		throw new KernelError("invalid-input", `store.${key}: ${target} cannot be read: ${errorText(thrown)}.`);
	});
	if (bytes === null) throw new KernelError("invalid-input", `store.${key}: there is no file ${target}.`);
	return bytes.toString("utf8");
}

/** The configured database, not yet connected. Fails with `invalid-input` when none is configured. */
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

/** The store in the configured database. With "expired", does not wait for a session that another process holds. */
export async function openConfiguredStore(
	settings: StoreSettings,
	given: StorePlace,
	takeOver: "patient" | "expired" = "patient",
): Promise<PostgresStore> {
	const { PostgresStore: Store } = await import("../ports/store/postgres/postgres-store.ts");
	const { owner, needs } = settings;
	return new Store({
		database: await openConfiguredDatabase(settings, given),
		log: given.log,
		clock: systemClock,
		owner,
		needs,
		takeOver,
		...(given.scratch === undefined ? {} : { scratch: given.scratch }),
	});
}
