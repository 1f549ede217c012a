// Two projects: `fast` runs in the test process, `e2e` runs the built executable, which it builds first.
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		pool: "threads",
		projects: [
			{
				extends: true,
				test: {
					name: "fast",
					include: [
						"src/**/*.test.ts",
						"test/{campaign,contracts,transcripts,pins,support}/**/*.test.ts",
						"scripts/**/*.test.ts",
					],
					testTimeout: 30_000,
					// One worker per core but one leaves half of a small machine idle.
					maxWorkers: Math.max(2, availableParallelism() - 1),
					sequence: { groupOrder: 0 },
					// A test that comes to no assertion, in an empty loop say, has shown nothing.
					expect: { requireAssertions: true },
				},
			},
			{
				extends: true,
				test: {
					name: "e2e",
					include: ["test/e2e/**/*.test.ts"],
					globalSetup: ["test/support/build.ts"],
					testTimeout: 30_000,
					// They measure processes that have work for a core of their own.
					maxWorkers: Math.max(1, availableParallelism() - 1),
					sequence: { groupOrder: 1 },
				},
			},
		],
	},
});
