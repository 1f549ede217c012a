/** Defaults that settings or environment variables override. */
export const defaultOauthHost = "https://auth.kimi.com";
export const defaultBaseUrl = "https://api.kimi.com/coding/v1";
export const defaultClientId = "agentwire";

/** The name of its credentials; providers refer to them by this key. */
export const platformName = "kimi-code";
export const platformKey = `oauth/${platformName}`;

export interface Platform {
	readonly oauthHost: string;
	readonly clientId: string;
	readonly baseUrl: string;
}

/** Empty settings leave the choice to environment and defaults. */
export interface PlatformSettings {
	readonly oauthHost: string;
	readonly oauthClientId: string;
}

/** Environment variables override the settings. */
export function toPlatform(
	environment: Readonly<Record<string, string | undefined>>,
	settings: PlatformSettings,
): Platform {
	return {
		oauthHost:
			environment["KIMI_CODE_OAUTH_HOST"] || environment["KIMI_OAUTH_HOST"] || settings.oauthHost || defaultOauthHost,
		clientId: settings.oauthClientId || defaultClientId,
		baseUrl: environment["KIMI_CODE_BASE_URL"] || defaultBaseUrl,
	};
}
