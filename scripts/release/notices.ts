// The licences of everything that the one file contains: every package whose code or programs are in it, and its runtime.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isRecord } from "../../src/base/json.ts";

interface PackageNotice {
	readonly name: string;
	readonly version: string;
	readonly licence: string;
	/** What its licence files say. */
	readonly texts: readonly string[];
}

/** The packages that modules belong to, by their directories; modules of our own belong to none. */
export function packagesOf(modules: readonly string[]): string[] {
	const found = new Set<string>();
	for (const module of modules) {
		const file = module.replace(/^\0/, "").replace(/\?.*$/, "");
		const [, directory] = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file) ?? [];
		if (directory !== undefined) found.add(directory);
	}
	return [...found].sort();
}

/** Throws for a package that says nothing of its licence: it cannot be given to others. */
export function readNotice(directory: string): PackageNotice {
	const manifest: unknown = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8"));
	const text = (name: string): string => {
		const value = isRecord(manifest) ? manifest[name] : undefined;
		return typeof value === "string" ? value : "";
	};
	const texts = readdirSync(directory)
		.filter((name) => /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i.test(name))
		.sort()
		.map((name) => readFileSync(path.join(directory, name), "utf8").trim());
	const licence = text("license");
	if (licence === "" && texts.length === 0) {
		throw new Error(`The package at ${directory} names no licence. Find out which it has before it is released.`);
	}
	return { name: text("name"), version: text("version"), licence: licence || "see below", texts };
}

const line = "-".repeat(100);

/** `lgpl` is the text of the GNU Lesser General Public License 2.1. */
export function noticesText(packages: readonly PackageNotice[], bunVersion: string, lgpl: string): string {
	const parts = packages.map(({ name, version, licence, texts }) =>
		[
			line,
			`${name} ${version} (${licence})`,
			"",
			...(texts.length === 0 ? ["It has no file with a licence."] : texts),
		].join("\n"),
	);
	return [
		"The executable contains the works of others that are listed here, each under its own licence.",
		"",
		runtimeNotice(bunVersion),
		"",
		...parts,
		line,
		lgpl.trim(),
		"",
	].join("\n");
}

/** What the licence of the engine asks for: notice, source, and a way to link it again. */
function runtimeNotice(version: string): string {
	return `Bun ${version} runs the program and is a part of the executable. Bun itself is under the MIT licence, and contains further
libraries; https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md lists them with their licences.

Bun is linked with JavaScriptCore and other parts of WebKit, which are under the GNU Lesser General Public License 2.1 (at the end
of this file). Their source, with Bun's changes, is at https://github.com/oven-sh/WebKit. To use a changed JavaScriptCore: build it
and Bun ${version} as https://github.com/oven-sh/bun/blob/bun-v${version}/CONTRIBUTING.md describes, then build this program from its
source with that Bun: BUN_EXECUTABLE=path/to/bun npm run build:binary.`;
}

/** The version of a package that is installed next to us. */
export function installedVersion(root: string, name: string): string {
	const file = path.join(root, "node_modules", name, "package.json");
	if (!existsSync(file)) throw new Error(`${name} is not installed. Run: npm ci`);
	return readNoticeVersion(file);
}

function readNoticeVersion(file: string): string {
	const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
	const version = isRecord(manifest) ? manifest["version"] : undefined;
	if (typeof version !== "string") throw new Error(`${file} has no version.`);
	return version;
}
