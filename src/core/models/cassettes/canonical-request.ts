// The form in which requests are compared and stored: without secrets and run-specific values.
import { createHash } from "node:crypto";
import { isRecord, isTextNestedWithin, type Json } from "../../../base/json.ts";
import { isSecretName, redactSecrets } from "../../../base/redaction.ts";

export interface CanonicalRequest {
	/** Relative to the API version, such as `chat/completions`, with the query. */
	readonly path: string;
	readonly body: Json;
}

/** Run- or machine-specific texts, such as a directory, and their placeholders. */
export type Replacements = readonly (readonly [text: string, name: string])[];

const mostLevels = 1000;
const shortestSecret = 8;
const redacted = "[redacted]";

export function toCanonicalRequest(
	url: URL,
	body: string,
	headers: Headers,
	replacements: Replacements,
): { readonly request: CanonicalRequest; readonly redact: (text: string) => string } | null {
	const value = parseBody(body);
	if (value === undefined) return null;
	const redact = createRedaction(url, headers);
	const replace = createReplacement(replacements);
	return { request: { path: toPath(url), body: canonicalBody(value, (text) => redact(replace(text))) }, redact };
}

export function keyOf(request: CanonicalRequest): string {
	return createHash("sha256")
		.update(JSON.stringify(sorted(request)))
		.digest("hex");
}

function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (!isRecord(value)) return value;
	return Object.fromEntries(
		Object.keys(value)
			.sort()
			.map((key) => [key, sorted(value[key])]),
	);
}

function parseBody(body: string): unknown {
	if (body === "") return null;
	if (!isTextNestedWithin(body, mostLevels)) return undefined;
	try {
		return JSON.parse(body);
	} catch {
		return undefined;
	}
}

function toPath({ pathname, searchParams }: URL): string {
	const query = new URLSearchParams([...searchParams].filter(([name]) => name !== "key" && !isSecretName(name)));
	query.sort();
	const path = pathname.replace(/^.*\/v\d+\w*\//, "").replace(/^\/+/, "");
	return query.size === 0 ? path : `${path}?${query}`;
}

/** User and cache names, which differ in every session. */
const volatileMembers: ReadonlySet<string> = new Set([
	"metadata",
	"prompt_cache_key",
	"prompt_cache_retention",
	"safety_identifier",
	"user",
]);

function canonicalBody(value: unknown, convert: (text: string) => string): Json {
	if (!isRecord(value)) return canonical(value, convert);
	return canonical(Object.fromEntries(Object.entries(value).filter(([name]) => !volatileMembers.has(name))), convert);
}

function canonical(value: unknown, convert: (text: string) => string): Json {
	if (typeof value === "string") return convert(value);
	if (Array.isArray(value)) return value.map((each) => canonical(each, convert));
	if (!isRecord(value)) return typeof value === "number" || typeof value === "boolean" ? value : null;
	const members = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
		// Cache marks are not part of the prompt.
		if (name === "cache_control") return [];
		const isSecret = typeof member === "string" && isSecretName(name);
		return [[name, isSecret ? redacted : canonical(member, convert)]];
	});
	return Object.fromEntries(members);
}

const ids = /\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})\b/g;
const times = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g;

function createReplacement(replacements: Replacements): (text: string) => string {
	const patterns = replacements
		.filter(([text]) => text.length > 1)
		.toSorted(([one], [other]) => other.length - one.length)
		.map(
			([text, name]) => [new RegExp(`${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-])`, "g"), name] as const,
		);
	return (text) =>
		patterns
			.reduce((changed, [pattern, name]) => changed.replace(pattern, () => name), text)
			.replace(ids, "<id>")
			.replace(times, "<time>");
}

/** Removes the request's keys and everything that looks like one. */
function createRedaction(url: URL, headers: Headers): (text: string) => string {
	const given = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"].map(
		(name) => headers.get(name)?.replace(/^\w+ +/, "") ?? "",
	);
	const secrets = [...given, url.searchParams.get("key") ?? ""].filter(({ length }) => length >= shortestSecret);
	return (text) => redactSecrets(secrets.reduce((rest, secret) => rest.replaceAll(secret, redacted), text));
}
