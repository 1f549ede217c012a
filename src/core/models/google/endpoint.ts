import { type HeaderSettings, toBaseUrl, toRequestHeaders } from "../http/endpoint.ts";
import { requestFailure } from "../http/request-failure.ts";
import type { AccessTokens } from "./access-token.ts";
import type { ContentSettings } from "./request.ts";

export interface Endpoint {
	readonly url: URL;
	readonly headers: Headers;
}

/** The base URL may end with the API version or not. */
export function geminiEndpoint(settings: ContentSettings): Endpoint {
	const { baseUrl, apiKey, model } = settings;
	const name = model.includes("/") ? model : `models/${model}`;
	return { url: toUrl(baseUrl, "v1beta", name), headers: toHeaders(settings, keyHeader(apiKey)) };
}

/** The project for token requests; empty for key requests. */
export function vertexProject({ environment }: Pick<ContentSettings, "environment">): string {
	return environment["GOOGLE_CLOUD_PROJECT"] || environment["GOOGLE_VERTEX_PROJECT"] || "";
}

/** Uses a token with a project, else a key. Throws RequestFailure if neither is available. */
export async function vertexEndpoint(
	settings: ContentSettings,
	tokens: AccessTokens,
	signal: AbortSignal,
): Promise<Endpoint> {
	const { environment, apiKey, baseUrl, model } = settings;
	const project = vertexProject(settings);
	const location = environment["GOOGLE_CLOUD_LOCATION"] || environment["GOOGLE_VERTEX_LOCATION"] || "global";
	const name = `publishers/google/models/${model}`;
	if (project === "") {
		const key = apiKey || environment["GOOGLE_API_KEY"] || "";
		if (key === "") {
			throw requestFailure(
				"provider",
				"Vertex AI needs a project or a key: set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION) in the provider's env table, or api_key.",
			);
		}
		return { url: toUrl(baseUrl, "v1", name), headers: toHeaders(settings, keyHeader(key)) };
	}
	const url = toUrl(baseUrl, "v1", `projects/${project}/locations/${location}/${name}`);
	if (url.hostname === "aiplatform.googleapis.com" && location !== "global")
		url.hostname = `${location}-${url.hostname}`;
	return { url, headers: toHeaders(settings, { authorization: `Bearer ${await tokens.get(signal)}` }) };
}

function toUrl(baseUrl: string, version: string, name: string): URL {
	const url = toBaseUrl(baseUrl);
	const root = url.pathname.replace(/\/+$/, "");
	const versioned = /\/v\d+\w*$/.test(root) ? root : `${root}/${version}`;
	url.pathname = `${versioned}/${name}:streamGenerateContent`;
	// Without it the answer is one list, not an event stream.
	url.searchParams.set("alt", "sse");
	return url;
}

function keyHeader(key: string): Record<string, string> {
	return key === "" ? {} : { "x-goog-api-key": key };
}

function toHeaders(settings: HeaderSettings, given: Record<string, string>): Headers {
	return toRequestHeaders(settings, given);
}
