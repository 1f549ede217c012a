// Answers as those of the platform: libraries ask whether something is a `Response`.
import type { Answer } from "./exchange.ts";

/** Statuses that the platform lets no body go with. */
const withoutBody: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

export interface AnswerPlace {
	readonly method: string;
	/** Of the last request, if there was a redirect. */
	readonly url: URL;
	readonly redirected: boolean;
}

/** The answer; its body is read no sooner than its reader wants it. */
export async function toPlatformResponse(answer: Answer, { method, url, redirected }: AnswerPlace): Promise<Response> {
	const { status, statusText, headers } = answer;
	const hasBody = method !== "HEAD" && !withoutBody.has(status);
	if (!hasBody) answer.discard();
	const body = hasBody ? await answer.body() : null;
	// Servers are free to answer what the platform lets nobody make.
	const isOrdinary = status >= 200 && status <= 599;
	const made = new Response(body, {
		status: isOrdinary ? status : 200,
		// Any of its characters would be allowed in a header, but for those that are none of the text.
		statusText: statusText.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?"),
		headers,
	});
	const shown = new URL(url);
	shown.hash = "";
	return Object.defineProperties(made, {
		url: { value: shown.href },
		redirected: { value: redirected },
		...(isOrdinary ? {} : { status: { value: status }, ok: { value: false } }),
	});
}
