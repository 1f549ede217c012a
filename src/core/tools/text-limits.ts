// Truncates lines without splitting a character.
import { beginning } from "../../base/text/well-formed.ts";

/** The line, truncated if necessary to at most `length` units with the marker at its end. */
export function cutLine(line: string, length: number, marker: string): string {
	return line.length <= length ? line : beginning(line, Math.max(0, length - marker.length)) + marker;
}
