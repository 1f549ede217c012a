// The scenarios of the command `conformance` as one file, which the program is built with.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { conformanceDialects, suiteNames } from "../src/cli/arguments/options/conformance-options.ts";
import { folderOf, suites } from "../src/cli/conformance/suites.ts";

const read = (name: string) =>
	readFileSync(fileURLToPath(new URL(`../test/transcripts/${name}.txt`, import.meta.url)), "utf8");

/** By their names, as JSON. */
export function scenariosText(): string {
	const names = conformanceDialects.flatMap((dialect) =>
		suiteNames.flatMap((suite) => suites[dialect][suite].map((name) => `${folderOf(dialect)}/${name}`)),
	);
	return JSON.stringify(Object.fromEntries(names.map((name) => [name, read(name)])));
}
