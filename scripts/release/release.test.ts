import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parsePlatform, platforms } from "../binary/bun.ts";
import { noticesText, packagesOf, readNotice } from "./notices.ts";
import { platformManifest, withPlatformPackages } from "./platform-package.ts";

function createPackage(manifest: object, files: Readonly<Record<string, string>> = {}): string {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-notices-"));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	const directory = path.join(root, "package");
	mkdirSync(directory);
	writeFileSync(path.join(directory, "package.json"), JSON.stringify(manifest));
	for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
	return directory;
}

describe("notices", () => {
	it("name the packages of modules, nested and scoped ones too, and none for our own", () => {
		expect(
			packagesOf([
				"/x/src/cli/main.ts",
				"/x/node_modules/valibot/dist/index.mjs",
				"/x/node_modules/@a/b/c.js?commonjs",
				"/x/node_modules/@a/b/node_modules/d/e.js",
				"\0/x/node_modules/valibot/other.mjs",
			]),
		).toEqual(["/x/node_modules/@a/b", "/x/node_modules/@a/b/node_modules/d", "/x/node_modules/valibot"]);
	});

	it("have the texts of a package's licence files", () => {
		const directory = createPackage(
			{ name: "a", version: "1", license: "MIT" },
			{ "LICENSE.md": "text", "index.js": "" },
		);
		expect(readNotice(directory)).toEqual({ name: "a", version: "1", licence: "MIT", texts: ["text"] });
	});

	it("refuse a package without a licence", () => {
		expect(() => readNotice(createPackage({ name: "a", version: "1" }))).toThrow("names no licence");
	});

	it("tell how to link the runtime's engine again, and have its licence", () => {
		const text = noticesText([], "1.4.5", "LESSER");
		expect(text).toContain("JavaScriptCore");
		expect(text).toContain("BUN_EXECUTABLE=");
		expect(text.trimEnd().endsWith("LESSER")).toBe(true);
	});
});

describe("packages of platforms", () => {
	const product = { name: "agentwire", version: "1.2.3", license: "MIT" };

	it("are installed only where they fit, and run nothing there", () => {
		const manifest = platformManifest(product, parsePlatform("linux-arm64"));
		expect(manifest).toMatchObject({ name: "agentwire-linux-arm64", version: "1.2.3", os: ["linux"], cpu: ["arm64"] });
		expect(manifest).not.toHaveProperty("scripts");
	});

	it("are optional dependencies of the product, all of them", () => {
		const manifest = withPlatformPackages({ optionalDependencies: { other: "1" } }, product);
		expect(Object.keys(Reflect.get(manifest, "optionalDependencies"))).toHaveLength(platforms.length + 1);
	});

	it("exist for no other platform", () => {
		expect(() => parsePlatform("linux-mips")).toThrow("there are linux-x64,");
	});
});
