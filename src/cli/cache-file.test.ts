import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeCacheFile } from "./cache-file.ts";

function createDirectory(): string {
	const directory = mkdtempSync(path.join(tmpdir(), "agentwire-cache-"));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	return directory;
}

it("replaces a file that only its owner can read, and makes its directory", () => {
	const directory = createDirectory();
	const file = path.join(directory, "below", "one");
	writeCacheFile(file, "first");
	writeCacheFile(file, "second");
	expect(readFileSync(file, "utf8")).toBe("second");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(readdirSync(path.dirname(file))).toEqual(["one"]);
});

it("leaves nothing where the file cannot be written", () => {
	const directory = createDirectory();
	// No file can get the name of a directory that is not empty.
	mkdirSync(path.join(directory, "one", "below"), { recursive: true });
	writeCacheFile(path.join(directory, "one"), "content");
	expect(readdirSync(directory)).toEqual(["one"]);
});
