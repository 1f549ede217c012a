// A small part of the campaigns of the SDKs' dialects.
import { expect, it } from "vitest";
import { claude, codex } from "./sdk/front-ends.ts";
import { fuzzClaude, fuzzCodex } from "./sdk/fuzz.ts";

it.each([
	["claude", fuzzClaude],
	["codex", fuzzCodex],
] as const)("answers each request of %s once", { timeout: 60_000 }, async (_name, fuzz) => {
	const { findings, figures } = await fuzz({ rounds: 240, seed: 2, points: "all", log: () => {} });
	expect(findings).toEqual([]);
	expect(figures["lines"]).toBeGreaterThanOrEqual(240);
});

it.each([
	["claude", claude],
	["codex", codex],
] as const)("ends every request and every turn of %s", { timeout: 60_000 }, async (_name, { liveness }) => {
	const { findings, figures } = await liveness({ rounds: 12, seed: 20, points: "all", log: () => {} });
	expect(findings).toEqual([]);
	expect(figures["prompt completed"]).toBeGreaterThan(8);
});
