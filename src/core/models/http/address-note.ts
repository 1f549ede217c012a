// Adds the request address to an error that it may have caused, because the provider's message does not name it.
import { sentences } from "../../../base/text/sentence.ts";
import type { ModelFailure } from "../model.ts";
import type { PlainAnswer } from "./plain-answer.ts";

/** Adds the request and redirect addresses to the failure, without queries, which may contain keys. */
export function withAddressNote(failure: ModelFailure, answer: PlainAnswer): ModelFailure {
	if (!isAddressSuspect(failure, answer)) return failure;
	const target = isRedirect(answer.status) ? toTarget(answer) : null;
	const redirect = target === null ? "" : `The redirect to ${shown(target)} is not followed.`;
	const note = `The request was made to ${shown(answer.url)}: check that this is right, or correct the provider's base_url in the configuration.`;
	return { ...failure, message: sentences(failure.message, redirect, note) };
}

/** Statuses unrelated to the address. */
const otherStatuses: ReadonlySet<number> = new Set([401, 403, 407, 408, 413, 429]);

function isAddressSuspect({ message }: ModelFailure, { status, contentType }: PlainAnswer): boolean {
	// Missing models have the same status as missing routes.
	if (status === 404 || status === 405) return !/\bmodels?\b/i.test(message);
	const isPage = /\bhtml\b/i.test(contentType) && status < 500 && !otherStatuses.has(status);
	return isRedirect(status) || isPage;
}

function isRedirect(status: number): boolean {
	return status >= 300 && status < 400;
}

function toTarget({ url, headers }: PlainAnswer): URL | null {
	const location = headers.get("location");
	return location !== null && URL.canParse(location, url.href) ? new URL(location, url.href) : null;
}

function shown({ origin, pathname }: URL): string {
	return `${origin}${pathname}`;
}
