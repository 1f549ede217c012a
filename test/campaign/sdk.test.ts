// A small part of the campaigns of the SDKs' dialects.
import { expect, it } from "vitest";
import { withoutSync } from "../../src/ports/files/unsynced-files.ts";
import { playCrash } from "./frame/crash.ts";
import { claudeCrash } from "./sdk/crash-claude.ts";
import { codexCrash } from "./sdk/crash-codex.ts";
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

it.each([
	["claude", claude, claudeCrash],
	["codex", codex, codexCrash],
] as const)(
	"keeps what %s was sent over crashes, and notices losses",
	{ timeout: 60_000 },
	async (_name, { crash }, dialect) => {
		const { findings } = await crash({ rounds: 3, seed: 1, points: 12, log: () => {} });
		expect(findings).toEqual([]);
		const [scenario = []] = dialect.scenarios;
		const found: string[] = [];
		for (let effect = 20; effect <= 90 && found.length === 0; effect += 5) {
			const stops = [{ effect, when: "after", loss: "least" } as const];
			found.push(...(await playCrash(dialect, { scenario, stops }, withoutSync)).faults);
		}
		expect(found).not.toEqual([]);
	},
);
