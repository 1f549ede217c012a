// What the environment says about the store of sessions.
import type { StoreSettings } from "../settings/config/configuration.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings as the environment changes them: an address there is that of a PostgreSQL database. */
export function withStoreEnvironment(settings: StoreSettings, environment: Environment): StoreSettings {
	const { AGENTWIRE_STORE_URL: url, AGENTWIRE_STORE_PASSWORD_FILE: passwordFile } = environment;
	return {
		...settings,
		...(url ? { type: "postgres" as const, url } : {}),
		...(passwordFile ? { passwordFile } : {}),
	};
}
