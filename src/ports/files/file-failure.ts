import path from "node:path";
import { errorText, isSystemError, systemErrorCode } from "../../base/errors.ts";
import { isTemporaryName } from "./temporaries.ts";

interface Reason {
	readonly why: string;
	readonly advice: string;
}

const full = "Free some space there, then try again.";
const permission = "Make it readable and writable for you, for example with chmod or chown, then try again.";

/** By system error code. Other codes are self-explanatory. */
const reasons: ReadonlyMap<string, Reason> = new Map([
	["ENOSPC", { why: "no space is left on the disk", advice: full }],
	["EDQUOT", { why: "your quota of the disk is exhausted", advice: full }],
	["EROFS", { why: "the file system is read-only", advice: "Make it writable, then try again." }],
	["EACCES", { why: "you have no permission", advice: permission }],
	["EPERM", { why: "it is not permitted", advice: permission }],
	["EMFILE", { why: "too many files are open", advice: "Raise the limit (ulimit -n), then try again." }],
	["EIO", { why: "the disk reports an error", advice: "Check the disk, then try again." }],
]);

/** For a file system error: which file, why, and what to do. Names the target directory of a temporary file. */
export function fileFailureText(thrown: unknown): string {
	const place = isSystemError(thrown) && "path" in thrown && typeof thrown.path === "string" ? thrown.path : null;
	const reason = knownReason(thrown);
	return place === null || reason === null ? errorText(thrown) : `${withoutTemporary(place)} cannot be used: ${reason}`;
}

export function fileFailureReason(thrown: unknown): string {
	return knownReason(thrown) ?? errorText(thrown);
}

function knownReason(thrown: unknown): string | null {
	const code = systemErrorCode(thrown) ?? "";
	const reason = reasons.get(code);
	return reason === undefined ? null : `${reason.why} (${code}). ${reason.advice}`;
}

function withoutTemporary(place: string): string {
	const names = place.split(path.sep);
	const temporary = names.findIndex(isTemporaryName);
	return temporary === -1 ? place : names.slice(0, temporary).join(path.sep) || path.sep;
}
