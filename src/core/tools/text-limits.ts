import { beginning } from "../../base/text/well-formed.ts";

/** The line, truncated to at most `length` units including the marker at the end. */
export function cutLine(line: string, length: number, marker: string): string {
	return line.length <= length ? line : beginning(line, Math.max(0, length - marker.length)) + marker;
}
