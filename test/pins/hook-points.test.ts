// The document of the hooks names every point at which they run.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { hookEvents } from "../../src/api/values/hooks/hook-event.ts";

it("docs/guides/hooks.md has one row for every event", async () => {
	const text = await readFile(new URL("../../docs/guides/hooks.md", import.meta.url), "utf8");
	const [, points = ""] = text.split("\n## Points\n");
	const rows = [...(points.split("\n## ")[0] ?? "").matchAll(/^\| `(\w+)` \| [^|]+ \| [^|]+ \| [^|]+ \|$/gm)];
	expect(rows.map(([, event]) => event).sort()).toEqual([...hookEvents].sort());
});
