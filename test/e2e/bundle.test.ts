// The bundle holds no client of HTTP but Node's own, and no way to the platform's `fetch`.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { findOtherClients, findPlatformFetch } from "../../scripts/bundle-check.ts";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));
const files = readdirSync(dist, { recursive: true, encoding: "utf8" })
	.filter((file) => file.endsWith(".cjs"))
	.map((file) => path.join(dist, file));

it("the bundle contains no HTTP client but Node's own", () => {
	expect(files.length).toBeGreaterThan(50);
	expect(findOtherClients(files)).toEqual([]);
});

it("the executable calls no fetch but that of the network port, whatever a library falls back to", async () => {
	expect(await findPlatformFetch(files)).toEqual([]);
	expect(files.some((file) => readFileSync(file, "utf8").includes("bypassed agentwire's network layer"))).toBe(true);
});
