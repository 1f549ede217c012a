// A small part of the fuzz campaigns of the SDKs' dialects.
import { expect, it } from "vitest";
import { fuzzClaude, fuzzCodex } from "./sdk/fuzz.ts";

it.each([
	["claude", fuzzClaude],
	["codex", fuzzCodex],
] as const)("answers each request of %s once", { timeout: 60_000 }, async (_name, fuzz) => {
	const { findings, figures } = await fuzz({ rounds: 240, seed: 2, points: "all", log: () => {} });
	expect(findings).toEqual([]);
	expect(figures["lines"]).toBeGreaterThanOrEqual(240);
});
