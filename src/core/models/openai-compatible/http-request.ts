import { toBaseUrl, toRequestHeaders } from "../http/endpoint.ts";
import type { ModelRequest } from "../model.ts";
import { samplingOf, thinkingOf } from "../model-settings.ts";
import type { BodyFields, ChatFlavour, ChatSettings } from "./flavour.ts";
import { toRequestMessages } from "./request-messages.ts";

/** The endpoint below the base URL, with the base's query. Throws RequestFailure unless the base is an http(s) URL. */
export function toEndpoint(baseUrl: string, route = "chat/completions"): URL {
	const url = toBaseUrl(baseUrl);
	url.pathname = `${url.pathname.replace(/\/+$/, "")}/${route}`;
	return url;
}

/** Our own headers, overridden by custom ones. Throws RequestFailure for invalid names or values. */
export function toHeaders(settings: ChatSettings, given: Readonly<Record<string, string>> = {}): Headers {
	const key = settings.apiKey === "" ? {} : { authorization: `Bearer ${settings.apiKey}` };
	return toRequestHeaders(settings, { ...key, ...given });
}

/** The whole body. Unset values are absent, never null. */
export function toBody(request: ModelRequest, given: ChatSettings, flavour: ChatFlavour): BodyFields {
	const settings = { ...given, thinking: thinkingOf(request, given) };
	const { temperature, topP } = samplingOf(request, settings);
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
