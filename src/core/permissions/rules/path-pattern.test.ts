import { describe, expect, it } from "vitest";
import { foldName } from "../../../ports/files/folded-name.ts";
import { matchesPath, parsePathPattern } from "./path-pattern.ts";

const roots = ["/work", "/more"];

function matches(text: string, path: string): boolean {
	const parsed = parsePathPattern(text, "/home/me");
	if (!parsed.ok) throw new Error(parsed.reason);
	return matchesPath(parsed.pattern, path, roots);
}

describe("names that some file system treats as one", () => {
	it.each([
		["case", ".SSH", ".ssh"],
		["Unicode form", "cafe\u0301", "caf\u00e9"],
		["the long s", ".\u017fsh", ".ssh"],
		["the sign of Kelvin", "\u212aeys", "keys"],
		["a sharp s", "stra\u00dfe", "STRASSE"],
		["forms of sigma", "\u03c3\u03c2", "\u03a3\u03a3"],
		["characters that are not seen", ".s\u200bs\u200dh\ufeff", ".ssh"],
	])("differ in %s", (_what, one, other) => expect(foldName(one)).toBe(foldName(other)));

	it.each([
		["another letter", ".ssh", ".sch"],
		["an accent", "cafe", "caf\u00e9"],
	])("do not differ in %s", (_what, one, other) => expect(foldName(one)).not.toBe(foldName(other)));
});

describe("a pattern of paths", () => {
	it.each([
		["src/**", ["/work/src/a.ts", "/work/src/a/b.ts", "/more/src/a.ts"], ["/work/src", "/work/a/src/b", "/src/a.ts"]],
		["src", ["/work/src", "/work/a/src", "/work/src/a/b.ts"], ["/src", "/work/source"]],
		["src/", ["/work/src", "/work/a/src/b"], ["/work/srcs"]],
		["./src", ["/work/src", "/work/src/a"], ["/work/a/src"]],
		["src/*.ts", ["/work/src/a.ts"], ["/work/src/a/b.ts", "/work/src/a.tsx"]],
		["**/secret", ["/work/secret", "/work/a/b/secret/key"], ["/work/secrets"]],
		["a/**/z", ["/work/a/z", "/work/a/b/c/z", "/work/a/b/z/y"], ["/work/a", "/work/z"]],
		["*.env", ["/work/.env", "/work/a/b.env"], ["/work/.env.local", "/elsewhere/.env"]],
		["**", ["/work/a", "/more/b/c"], ["/work", "/workshop/a", "/etc/passwd"]],
		[".", ["/work", "/work/a"], ["/etc"]],
		["/etc/**", ["/etc/passwd", "/etc/a/b"], ["/etc", "/work/etc/a", "/etcetera"]],
		["/etc", ["/etc", "/etc/passwd"], ["/work/etc"]],
		["/", ["/etc", "/work/a"], []],
		["~/.ssh", ["/home/me/.ssh", "/home/me/.ssh/id"], ["/home/you/.ssh", "/work/.ssh"]],
		["~", ["/home/me/a"], ["/home/you"]],
		["a[*]b", ["/work/a*b"], ["/work/axb"]],
	] as const)("%s covers what .gitignore would", (text, covered, others) => {
		for (const path of covered) expect([path, matches(text, path)]).toEqual([path, true]);
		for (const path of others) expect([path, matches(text, path)]).toEqual([path, false]);
	});

	it.each([
		["!src", "a pattern cannot be negated with `!`; write a second rule"],
		["../x", "the pattern must not lead out of the directory with `..`"],
		["/a/../b", "the pattern must not lead out of the directory with `..`"],
	])("%s is refused", (text, reason) => {
		expect(parsePathPattern(text, "/home/me")).toEqual({ ok: false, reason });
	});

	it("with many wildcards is matched in a time that the lengths bound", () => {
		expect(matches(`${"**/a/".repeat(150)}c`, `/work/${"a/".repeat(2000)}b`)).toBe(false);
	});
});
