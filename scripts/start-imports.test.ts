import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findStartImports, startPackages, tooEarly, unknownEntries } from "./start-imports.ts";

const source = fileURLToPath(new URL("../src", import.meta.url));

describe("the start of a server", () => {
	it("loads nothing that is listed as loaded later", () => {
		const { files, packages } = findStartImports(source);
		expect(tooEarly(files)).toEqual([]);
		expect(packages).toEqual(startPackages);
		expect(files).toContain("kernel/session/session.ts");
		expect(unknownEntries(source)).toEqual([]);
	});

	it("is followed through exports and bare imports, not through types and import()", () => {
		const root = mkdtempSync(path.join(tmpdir(), "agentwire-start-"));
		const write = (file: string, text: string) => {
			mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
			writeFileSync(path.join(root, file), text);
		};
		write(
			"cli/serve.ts",
			'import {\n\ta,\n} from "../kernel/a.ts";\nimport type { T } from "../tools/built-in-tools.ts";\nimport "heavy";\n',
		);
		write("kernel/a.ts", 'export * from "../core/mcp/b.ts";\nconst c = await import("../mcp/c.ts");\n');
		write("core/mcp/b.ts", 'import path from "node:path";\n');
		const { files, packages } = findStartImports(root);
		rmSync(root, { recursive: true });
		expect(files).toEqual(["cli/serve.ts", "core/mcp/b.ts", "kernel/a.ts"]);
		expect(packages).toEqual(["heavy"]);
		expect(tooEarly(files)).toEqual(["core/mcp/b.ts"]);
	});
});
