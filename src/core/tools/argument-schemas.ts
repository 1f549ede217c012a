import * as v from "valibot";
import { cut } from "../../base/text/sentence.ts";

const integerText = /^\s*[+-]?\d+(\.0*)?\s*$/;
const trueTexts: ReadonlySet<string> = new Set(["true", "t", "yes", "y", "on", "1"]);
const falseTexts: ReadonlySet<string> = new Set(["false", "f", "no", "n", "off", "0"]);
const shownLength = 80;

function toInteger(value: unknown): unknown {
	if (typeof value === "boolean") return value ? 1 : 0;
	return typeof value === "string" && integerText.test(value) ? Number(value) : value;
}

function toBoolean(value: unknown): unknown {
	if (value === 1 || value === 0) return value === 1;
	if (typeof value !== "string") return value;
	const word = value.toLowerCase();
	if (trueTexts.has(word)) return true;
	return falseTexts.has(word) ? false : value;
}

/** An integer; also accepts its text, an integral fraction, or a boolean as 0 or 1. */
export function integer() {
	return v.pipe(v.unknown(), v.transform(toInteger), v.number(), v.integer());
}

/** A boolean; also accepts 0, 1 and the usual words. */
export function boolean() {
	return v.pipe(v.unknown(), v.transform(toBoolean), v.boolean());
}

type PathItems = readonly { readonly key?: unknown }[];

interface Finding {
	readonly issue: v.BaseIssue<unknown>;
	readonly path: PathItems;
}

/** The innermost issue; among alternatives, the one that matched deepest into the value. */
function innermost(issue: v.BaseIssue<unknown>, outer: PathItems = []): Finding {
	const path = [...outer, ...(issue.path ?? [])];
	const inner = (issue.issues ?? []).map((candidate) => innermost(candidate, path));
	return inner.reduce<Finding>((best, found) => (found.path.length > best.path.length ? found : best), { issue, path });
}

/** The expected value, which the library only hints at. */
function expectation(issue: v.BaseIssue<unknown>): string {
	switch (issue.type) {
		case "integer":
			return "integer";
		case "min_length":
			return `a length ${issue.expected}`;
		case "not_value":
			return `anything but ${issue.received}`;
		default:
			return issue.expected ?? "another value";
	}
}

export function issueSentence(first: v.BaseIssue<unknown>): string {
	const { issue, path } = innermost(first);
	if (path.length === 0) return "The arguments must be a JSON object.";
	const name = path.map((item) => String(item.key)).join(".");
	if (issue.received === "undefined") return `Argument \`${name}\` is required.`;
	return `Argument \`${name}\` is invalid: expected ${expectation(issue)} but received ${cut(issue.received, shownLength)}.`;
}
