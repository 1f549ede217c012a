import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { findCrowdedFolders, findImportCircles, findImportViolations } from "./import-check.ts";
import { importTable } from "./imports.ts";

const source = fileURLToPath(new URL("../src", import.meta.url));
const made: string[] = [];

function tree(files: Record<string, string>): string {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-imports-"));
	made.push(root);
	for (const [file, text] of Object.entries(files)) {
		mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
		writeFileSync(path.join(root, file), text);
	}
	return root;
}

afterEach(() => {
	for (const root of made.splice(0)) rmSync(root, { recursive: true });
});

describe("the import table", () => {
	it("holds in the source tree", () => {
		expect(findImportViolations(source)).toEqual([]);
	});

	it("lets a folder import only folders of lower floors", () => {
		const floor = new Map(importTable.map((row) => [row.folder, row.floor]));
		for (const row of importTable) {
			if (row.mayImport === "anything" || row.floor === "side") continue;
			for (const target of row.mayImport)
				expect(Number(floor.get(target)), `${row.folder} -> ${target}`).toBeLessThan(row.floor);
		}
	});

	it("lets no rooms of a folder import values from each other in a circle", () => {
		for (const { folder, rooms = {} } of importTable) {
			const below = (room: string, seen: readonly string[]): void => {
				expect(seen, `${folder}/${room}`).not.toContain(room);
				for (const other of rooms[room] ?? []) below(other, [...seen, room]);
			};
			for (const room of Object.keys(rooms)) below(room, []);
		}
	});

	it("catches a room that imports a value of a room above it, or lies in no row", () => {
		const root = tree({
			"kernel/turn/a.ts": 'import { x } from "../session/b.ts";\nimport type { Y } from "../session/b.ts";\n',
			"kernel/attic/a.ts": 'import { x } from "../turn/a.ts";\n',
			"kernel/session/b.ts": 'import { z } from "../turn/a.ts";\n',
		});
		expect(
			findImportViolations(root)
				.map(({ reason }) => reason)
				.sort(),
		).toEqual([
			"kernel/turn may import only types from kernel/session",
			"the room kernel/attic is not in the import table",
		]);
	});

	it("catches an import upwards", () => {
		const root = tree({ "api/values/a.ts": 'import { x } from "../../kernel/b.ts";\n' });
		expect(findImportViolations(root)).toEqual([
			{ file: "api/values/a.ts", imported: "kernel/b.ts", reason: "api/values may not import kernel" },
		]);
	});

	it("catches a lazy import and a value where only types are allowed", () => {
		const root = tree({
			"core/agent/a.ts": 'const x = await import("../../ports/rpc/b.ts");\n',
			"frontends/gateway/a.ts":
				'import type { F } from "../../ports/files/port.ts";\nimport { f } from "../../ports/files/port.ts";\n',
		});
		expect(
			findImportViolations(root)
				.map(({ reason }) => reason)
				.sort(),
		).toEqual(["core/agent may not import ports/rpc", "frontends/gateway may import only types from ports/files"]);
	});

	it("catches one dialect importing another, and shared files importing one", () => {
		const root = tree({
			"frontends/legacy/a.ts": 'import { x } from "../kimi/b.ts";\n',
			"frontends/shared/a.ts": 'import { x } from "../kimi/b.ts";\n',
		});
		expect(
			findImportViolations(root)
				.map(({ reason }) => reason)
				.sort(),
		).toEqual(["frontends/legacy may not import frontends/kimi", "frontends/shared may not import frontends/kimi"]);
	});
});

it("catches a front end that imports more of the kernel than its interfaces", () => {
	const root = tree({
		"frontends/kimi/a.ts": 'import type { SessionApi } from "../../api/kernel.ts";\n',
		"frontends/kimi/b.ts": 'import type { Session } from "../../kernel/session/session.ts";\n',
		"frontends/serve/c.ts": 'import type { Session } from "../../kernel/session/session.ts";\n',
		"cli/print/d.ts": 'import type { Session } from "../../kernel/session/session.ts";\n',
		"cli/program.ts": 'import type { Session } from "../kernel/session/session.ts";\n',
	});
	const alone = "front ends know the kernel by api/kernel.ts alone";
	const found = findImportViolations(root).map(({ file, reason }) => [file, reason]);
	expect(found.filter(([, reason]) => reason === alone).map(([file]) => file)).toEqual(["cli/print/d.ts"]);
	expect(found.map(([file]) => file).toSorted()).toEqual([
		"cli/print/d.ts",
		"frontends/kimi/b.ts",
		"frontends/serve/c.ts",
	]);
});

describe("the source tree", () => {
	it("has no folder of so many files that they need sub-folders", () => {
		expect(findCrowdedFolders(source)).toEqual([]);
	});

	it("would be caught at one, whose tests do not count", () => {
		const files = (count: number, end: string) =>
			Object.fromEntries(Array.from({ length: count }, (_, index) => [`tools/a${index}${end}`, ""]));
		expect(findCrowdedFolders(tree({ ...files(24, ".ts"), ...files(24, ".test.ts") }))).toEqual([]);
		expect(findCrowdedFolders(tree(files(25, ".ts")))).toEqual([{ folder: "tools", files: 25 }]);
	});

	it("has no files that import each other in a circle", () => {
		expect(findImportCircles(source)).toEqual([]);
	});

	it("would be caught at one, of types too, and not at a dynamic import", () => {
		const root = tree({
			"kernel/a.ts": 'import { b } from "./b.ts";\n',
			"kernel/b.ts": 'import type { C } from "./c.ts";\n',
			"kernel/c.ts": 'export { a } from "./a.ts";\nconst d = () => import("./d.ts");\n',
			"kernel/d.ts": 'import { c } from "./c.ts";\n',
		});
		expect(findImportCircles(root)).toEqual([["kernel/a.ts", "kernel/b.ts", "kernel/c.ts"]]);
	});
});
