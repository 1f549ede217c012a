import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { findLawViolations, readUses } from "./law-check.ts";
import { laws } from "./laws.ts";

const tree = readUses(fileURLToPath(new URL("../src", import.meta.url)));
const made: string[] = [];
afterEach(() => {
	for (const root of made.splice(0)) rmSync(root, { recursive: true });
});

function violations(file: string, text: string): string[] {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-laws-"));
	made.push(root);
	mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
	writeFileSync(path.join(root, file), text);
	return findLawViolations(readUses(root)).map((each) => `${each.line} ${each.used}`);
}

describe("the laws", () => {
	it("hold in the source tree", () => {
		expect(findLawViolations(tree)).toEqual([]);
	});

	it("say which place may do what nobody else may", () => {
		const root = mkdtempSync(path.join(tmpdir(), "agentwire-laws-"));
		made.push(root);
		writeFileSync(path.join(root, "a.ts"), "\nexport const home = process.env.HOME;\n");
		expect(findLawViolations(readUses(root))).toEqual([
			{
				file: "a.ts",
				line: 2,
				used: "process.env",
				reason: "only cli/ may read arguments, environment and current directory",
			},
		]);
	});

	// One row for each thing that a law names: a law that nothing can break is none.
	it.each(laws.flatMap(({ members = [] }) => members))("are broken by process.%s in the kernel", (member) => {
		expect(violations("kernel/a.ts", `export const a = process.${member};\n`)).toEqual([`1 process.${member}`]);
		expect(violations("kernel/a.ts", `const { ${member} } = process;\n`)).toEqual([`1 process.${member}`]);
		expect(violations("kernel/a.ts", `export const a = process["${member}"];\n`)).toEqual([`1 process.${member}`]);
	});

	it.each(laws.flatMap(({ modules = [] }) => modules))("are broken by an import of %s in the kernel", (module) => {
		expect(violations("kernel/a.ts", `import * as a from "${module}";\n`)).toEqual([`1 ${module}`]);
		expect(violations("kernel/a.ts", `import { b } from "${module}/promises";\n`)).toEqual([`1 ${module}/promises`]);
		expect(violations("kernel/a.ts", `export const a = await import("${module}");\n`)).toEqual([`1 ${module}`]);
		expect(violations("kernel/a.ts", `export * from "./b.ts";\nexport { b } from "${module}";\n`)).toEqual([
			`2 ${module}`,
		]);
		expect(violations("kernel/a.ts", `import type { b } from "${module}";\n`)).toEqual([]);
	});

	it.each(laws.flatMap(({ globals = [] }) => globals))("are broken by the global %s in the kernel", (name) => {
		expect(violations("kernel/a.ts", `export const a = ${name};\n`)).toEqual([`1 ${name}`]);
		expect(violations("kernel/a.ts", `export const a = globalThis.${name};\n`)).toEqual([`1 ${name}`]);
		expect(violations("kernel/a.ts", `export const a = (${name}: () => void) => ${name}();\n`)).toEqual([]);
		expect(violations("kernel/a.ts", `export const a = (b: B) => b.${name}();\n`)).toEqual([]);
		expect(violations("kernel/a.ts", `export const a = ({ ${name} }: B) => ${name}();\n`)).toEqual([]);
		expect(violations("kernel/a.ts", `export interface A { ${name}: typeof ${name}; }\n`)).toEqual([]);
	});

	it("let tests do what they like", () => {
		expect(violations("kernel/a.test.ts", 'import "node:fs";\n')).toEqual([]);
	});

	it.each(laws.flatMap((law) => Object.keys(law.exceptions ?? {}).map((place) => ({ law, place }))))(
		"make an exception of $place only as long as it needs one",
		({ law, place }) => {
			const { [place]: _, ...exceptions } = law.exceptions ?? {};
			const broken = findLawViolations(tree, [{ ...law, exceptions }]);
			expect(broken.map(({ file }) => file).filter((file) => file.startsWith(place))).not.toEqual([]);
		},
	);
});
