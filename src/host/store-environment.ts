import type { StoreSettings } from "../settings/config/configuration.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Store settings with environment overrides: an address there means a PostgreSQL database. */
export function withStoreEnvironment(settings: StoreSettings, environment: Environment): StoreSettings {
	const { AGENTWIRE_STORE_URL: url, AGENTWIRE_STORE_PASSWORD_FILE: passwordFile } = environment;
	return {
		...settings,
		...(url ? { type: "postgres" as const, url } : {}),
		...(passwordFile ? { passwordFile } : {}),
	};
}
