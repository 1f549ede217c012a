import { systemClock } from "../../base/clock.ts";
import { errorText, KernelError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import { openConfiguredDatabase, openConfiguredStore } from "../../host/configured-store.ts";
import type { Place } from "../../host/place.ts";
import { withStoreEnvironment } from "../../host/store-environment.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { createDiskStore } from "../../ports/store/disk/disk-store.ts";
import type { Database } from "../../ports/store/postgres/database.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import type { StoreSettings } from "../../settings/config/configuration.ts";
import { readStartSettings, type StartSource } from "../model-source.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { environmentVariables } from "../process/environment.ts";

export interface CommandStore {
	readonly settings: StoreSettings;
	/** Bytes of file contents that the database keeps of a session. */
	readonly historyLimit: number;
	readonly files: Files;
	readonly shareDir: string;
	readonly place: Place;
	readonly environment: Readonly<Record<string, string>>;
	/** The store on disk, regardless of the settings. */
	readonly disk: SessionStore;
	openStore(): Promise<SessionStore>;
	openDatabase(): Promise<Database>;
}

/** Without `given`, files in the share directory are restricted when read. Fails `invalid-input`. */
export async function findCommandStore(given?: Files, source?: StartSource): Promise<CommandStore> {
	const place: Place = { currentDir: currentDirectory(), home: homeDirectory() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const files = given ?? createDiskFiles(privateBelow(shareDir));
	const named = source ?? `${shareDir}/config.toml`;
	const { configuration } = await readStartSettings(named, environment, files).catch((thrown: unknown) => {
		throw new KernelError("invalid-input", errorText(thrown), { cause: thrown });
	});
	const settings = withStoreEnvironment(configuration.store, environment);
	const disk = createDiskStore({ files, shareDir, log: silentLog, clock: systemClock, protocolVersion });
	const opening = { files, place, log: silentLog };
	return {
		settings,
		historyLimit: configuration.agentwire.rewind.maxDatabaseBytes,
		files,
		shareDir,
		place,
		environment,
		disk,
		openStore: async () => (settings.type === "disk" ? disk : await openConfiguredStore(settings, opening)),
		openDatabase: () => openConfiguredDatabase(settings, opening),
	};
}
