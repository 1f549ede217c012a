import type { Answer } from "./exchange.ts";

const withoutBody: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

export interface AnswerPlace {
	readonly method: string;
	readonly url: URL;
	readonly redirected: boolean;
}

export async function toPlatformResponse(answer: Answer, { method, url, redirected }: AnswerPlace): Promise<Response> {
	const { status, statusText, headers } = answer;
	const hasBody = method !== "HEAD" && !withoutBody.has(status);
	if (!hasBody) answer.discard();
	const body = hasBody ? await answer.body() : null;
	// Servers may send statuses that `Response` rejects.
	const isOrdinary = status >= 200 && status <= 599;
	const made = new Response(body, {
		status: isOrdinary ? status : 200,
		// Replaces characters that `Response` rejects in a status text.
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
