import type { ModelSettings } from "../model-settings.ts";
import { requestFailure } from "./request-failure.ts";

/** The API root. Throws RequestFailure unless it is an http(s) URL without credentials. */
export function toBaseUrl(baseUrl: string): URL {
	const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
	if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
		throw requestFailure("provider", "The provider's base_url is not an http(s) URL without credentials.");
	}
	return url;
}

export type HeaderSettings = Pick<ModelSettings, "customHeaders" | "version" | "clientName">;

/** Headers in order of precedence: ours, the given ones, custom ones. Throws RequestFailure for invalid ones. */
export function toRequestHeaders(settings: HeaderSettings, given: Readonly<Record<string, string>>): Headers {
	const headers = new Headers({
		accept: "text/event-stream",
		"content-type": "application/json",
		"user-agent": userAgent(settings),
	});
	try {
		for (const [name, value] of Object.entries(given)) headers.set(name, value);
		for (const [name, value] of Object.entries(settings.customHeaders)) headers.set(name, value);
	} catch {
		// The original error would quote the value.
		throw requestFailure(
			"provider",
			"The provider's api_key or custom_headers contain characters that HTTP does not allow.",
		);
	}
	return headers;
}

function userAgent({ version, clientName }: HeaderSettings): string {
	const own = `agentwire/${version}`;
	const client =
		clientName()
			?.replace(/[^\x20-\x7e]|[()\\]/g, "")
			.trim() ?? "";
	return client === "" ? own : `${own} (${client})`;
}
