import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEmbeddedCopies, type EmbeddedFile } from "./embedded-copies.ts";

const embeddedFile = (file: string, text: string, isProgram = false): EmbeddedFile => ({
	path: file,
	isProgram,
	read: () => Buffer.from(text),
});

function createPlaces() {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-copies-"));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	const temporaryDir = path.join(root, "temporary");
	mkdirSync(temporaryDir);
	const removals: (() => void)[] = [];
	const atExit = (remove: () => void) => void removals.push(remove);
	return { root, places: { cacheDir: path.join(root, "cache"), temporaryDir, atExit }, removals };
}

describe("copies of embedded files", () => {
	it("have the content of their originals, are private, and nothing is left beside them", () => {
		const { places } = createPlaces();
		const files = [embeddedFile("a/one", "1"), embeddedFile("program", "#!/bin/sh\n", true)];
		const directory = createEmbeddedCopies("things", () => files, places).directory();
		expect(path.dirname(directory)).toBe(places.cacheDir);
		expect(readdirSync(directory, { recursive: true }).sort()).toEqual(["a", "a/one", "program"]);
		expect(readFileSync(path.join(directory, "a/one"), "utf8")).toBe("1");
		expect(statSync(path.join(directory, "a/one")).mode & 0o777).toBe(0o600);
		expect(statSync(path.join(directory, "program")).mode & 0o777).toBe(0o700);
	});

	it("are not made of what a process writes that has the same id in another container", () => {
		const { places } = createPlaces();
		const other = path.join(places.cacheDir, "things", `one.${process.pid}.tmp`);
		mkdirSync(path.dirname(other), { recursive: true });
		writeFileSync(other, "half");
		const directory = createEmbeddedCopies("things", () => [embeddedFile("one", "1")], places).directory();
		expect(readFileSync(path.join(directory, "one"), "utf8")).toBe("1");
		expect(readFileSync(other, "utf8")).toBe("half");
	});

	it("are made once: the next process finds them", () => {
		const { places } = createPlaces();
		const first = createEmbeddedCopies("things", () => [embeddedFile("one", "1")], places).directory();
		const before = statSync(path.join(first, "one")).ino;
		expect(createEmbeddedCopies("things", () => [embeddedFile("one", "1")], places).directory()).toBe(first);
		expect(statSync(path.join(first, "one")).ino).toBe(before);
	});

	it.each([
		["changed", (file: string) => writeFileSync(file, "#!/bin/evil")],
		["replaced by one of equal size", (file: string) => writeFileSync(file, "#!/bin/ev")],
		["cut off", (file: string) => writeFileSync(file, "")],
		["opened to others", (file: string) => chmodSync(file, 0o777)],
		["removed", (file: string) => rmSync(file)],
	])("are made again when one was %s, also while the program runs", (_name, damage) => {
		const { places } = createPlaces();
		const copies = createEmbeddedCopies("things", () => [embeddedFile("program", "#!/bin/sh", true)], places);
		const file = path.join(copies.directory(), "program");
		damage(file);
		expect(path.join(copies.directory(), "program")).toBe(file);
		expect(readFileSync(file, "utf8")).toBe("#!/bin/sh");
		expect(statSync(file).mode & 0o777).toBe(0o700);
	});

	it("live as long as the process where nothing can be kept", () => {
		const { root, places, removals } = createPlaces();
		writeFileSync(places.cacheDir, "no directory");
		const copies = createEmbeddedCopies("things", () => [embeddedFile("one", "1")], places);
		const directory = copies.directory();
		expect(directory.startsWith(path.join(root, "temporary"))).toBe(true);
		expect(copies.directory()).toBe(directory);
		for (const remove of removals) remove();
		expect(existsSync(directory)).toBe(false);
	});

	it("are refused where there is no place at all", () => {
		const { places } = createPlaces();
		writeFileSync(places.cacheDir, "no directory");
		rmSync(places.temporaryDir, { recursive: true });
		const copies = createEmbeddedCopies("things", () => [embeddedFile("one", "1")], places);
		expect(() => copies.directory()).toThrow("ENOENT");
	});
});
