// The HTTP request of a chat completion: address, headers and body.
import { requestFailure } from "../http/request-failure.ts";
import type { ModelRequest } from "../model.ts";
import type { BodyFields, ChatFlavour, ChatSettings } from "./flavour.ts";
import { toRequestMessages } from "./request-messages.ts";

/** The endpoint below the base URL, whose query is kept. Throws RequestFailure when the base is no http(s) URL. */
export function toEndpoint(baseUrl: string): URL {
	const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
	if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
		throw requestFailure("provider", "The provider's base_url is not an http(s) URL without credentials.");
	}
	url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
	return url;
}

/** Our own headers, then the custom ones over them. Throws RequestFailure for names or values that HTTP forbids. */
export function toHeaders(settings: ChatSettings): Headers {
	const headers = new Headers({
		accept: "text/event-stream",
		"content-type": "application/json",
		"user-agent": userAgent(settings),
	});
	try {
		if (settings.apiKey !== "") headers.set("authorization", `Bearer ${settings.apiKey}`);
		for (const [name, value] of Object.entries(settings.customHeaders)) headers.set(name, value);
	} catch {
		// The error itself would quote the value.
		throw requestFailure("provider", "The provider's api_key or custom_headers hold what HTTP does not allow.");
	}
	return headers;
}

function userAgent(settings: ChatSettings): string {
	const own = `agentwire/${settings.version}`;
	const client =
		settings
			.clientName()
			?.replace(/[^\x20-\x7e]|[()\\]/g, "")
			.trim() ?? "";
	return client === "" ? own : `${own} (${client})`;
}

/** The whole body. Values that are not set are absent, never null. */
export function toBody(request: ModelRequest, settings: ChatSettings, flavour: ChatFlavour): BodyFields {
	const { temperature, topP } = settings.sampling;
	return {
		model: settings.model,
		stream: true,
		stream_options: { include_usage: true },
		...(temperature === null ? {} : { temperature }),
		...(topP === null ? {} : { top_p: topP }),
		...flavour.extras(settings, request),
		messages: toRequestMessages(request, settings, flavour),
		...(request.tools.length === 0 ? {} : { tools: request.tools.map((tool) => flavour.tool(tool)) }),
	};
}
