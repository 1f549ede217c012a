// The breakages still fit the code: each finds its line, exactly once, and changes it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { breakages } from "./mutations/breakages.ts";
import { placeOf } from "./mutations/working-copy.ts";

const textOf = (file: string) => readFileSync(path.join(import.meta.dirname, "../src", file), "utf8");

it.each(breakages.map((breakage) => [breakage.name, breakage] as const))("can be made: %s", (_name, breakage) => {
	expect(placeOf(breakage, textOf(breakage.file))).toBeGreaterThanOrEqual(0);
	expect(breakage.replace).not.toBe(breakage.find);
});

it("are told apart by their names, and are at least twenty", () => {
	expect(new Set(breakages.map(({ name }) => name)).size).toBe(breakages.length);
	expect(breakages.length).toBeGreaterThanOrEqual(20);
});

it("are reported when their text is no longer in the file exactly once", () => {
	const breakage = { name: "n", file: "f.ts", find: "a", replace: "b" };
	expect(() => placeOf(breakage, "x")).toThrow('"n" does not fit any more: src/f.ts lacks "a"');
	expect(() => placeOf(breakage, "a a")).toThrow('"n" is ambiguous');
	expect(placeOf(breakage, "x a")).toBe(2);
});
