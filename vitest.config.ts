// Projects: `fast` runs in the test process; `e2e` and `e2e-alone` run the built executable, which they build first. `npm test`
// leaves out the others, which `.ci/run` runs: `broad` and `e2e-broad` start hundreds of processes, `long` has what takes long by
// its nature, `browser` what needs Chromium, `postgres` what needs PostgreSQL.
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import type { Reporter } from "vitest/node";

/** Tests of the executable that measure times or memory: each runs while no other does. */
const measuring = ["backpressure", "end-in-time", "irregular-files", "shutdown"].map(
	(name) => `test/e2e/${name}.test.ts`,
);

const long = [
	"src/cli/plugin/plugin-size.test.ts",
	"src/kernel/background/notifications-crashes.test.ts",
	"src/core/tools/web/web-page-limits.test.ts",
	"test/campaign/crash-judge.test.ts",
	"test/e2e/acp-python.test.ts",
	"test/e2e/client-kill.test.ts",
	"test/e2e/hung-drive.test.ts",
	"test/e2e/kill-campaign.test.ts",
	"test/e2e/kimi-continues.test.ts",
	"test/e2e/long-prompt.test.ts",
	"test/e2e/long-session.test.ts",
	"test/e2e/meerkat-python.test.ts",
	"test/e2e/orphans.test.ts",
	"test/e2e/other-transcripts.test.ts",
	"test/e2e/slow-pages.test.ts",
	"test/e2e/slow-reader.test.ts",
	"test/e2e/unwritable-log.test.ts",
	"test/e2e/wedge.test.ts",
	"test/transcripts/other-remote.test.ts",
];

/** Together they would take half of the time of `npm test`: many cases of one kind, most with a process each. */
const broad = [
	"src/client/liveness.property.test.ts",
	"src/cluster/{cluster,handshake,upgrade}.test.ts",
	"src/ports/processes/{containment,escapes,watchdog}.test.ts",
	"src/ports/processes/confinement/confinement.test.ts",
	"src/ports/processes/git/{git,repository-programs}.test.ts",
	"src/ports/store/disk/failing-disk.test.ts",
	"src/ports/workspace/file-history{,.property}.test.ts",
	"test/campaign/{clients,crash,gateway,sdk}.test.ts",
];

const broadE2e = [
	...["acp-cancel", "acp-input", "acp-servers", "acp-sessions", "baselines", "conformance", "executable-names"],
	...["export", "forbidden-modes", "gateway-connections", "go-like", "login", "mcp", "mcp-commands"],
	...["meerkat-client", "meerkat-creator", "meerkat-http-hooks", "meerkat-recorded", "meerkat-resume"],
	...["meerkat-session-hooks", "meerkat-turns", "namespaces", "owner-only", "permission-agents"],
	...["permission-grants", "permission-modes", "permission-tools", "permissions-command", "plugins", "print"],
	...["print-kimi-code", "printing-commands", "record", "sandbox", "sdk-interaction", "sdk-sessions"],
	...["session-limits", "sessions-command", "shared-output", "telemetry", "testing-library", "transcripts"],
].map((name) => `test/e2e/${name}.test.ts`);

/** What needs PostgreSQL. */
const overPostgres = ["src/ports/store/postgres/**/*.test.ts", "test/postgres/**/*.test.ts"];

const build = ["test/support/executable/build.ts"];

/** Names tests that passed only when they were run again (`AGENTWIRE_TEST_RETRIES`). */
const namingRetried: Reporter = {
	onTestCaseResult(test) {
		if (test.diagnostic()?.flaky === true)
			console.log(`passed on a second try: ${test.module.moduleId} > ${test.fullName}`);
	},
};

export default defineConfig({
	test: {
		pool: "threads",
		testTimeout: 30_000,
		// A hook may build the package and install it, beside other tests.
		hookTimeout: 60_000,
		retry: Number(process.env["AGENTWIRE_TEST_RETRIES"] ?? 0),
		reporters: ["default", namingRetried],
		// What is awaited comes when the machine has time for it.
		expect: { poll: { timeout: 10_000 } },
		projects: [
			{
				extends: true,
				test: {
					name: "fast",
					include: [
						"src/**/*.test.ts",
						"web/**/*.test.ts",
						"test/{baselines,campaign,contracts,transcripts,pins,support}/**/*.test.ts",
						"scripts/**/*.test.ts",
						"bench/**/*.test.ts",
					],
					exclude: [...broad, ...long, ...overPostgres],
					// The files of a worker share the modules they import: loading them anew took longer than most tests.
					isolate: false,
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
					exclude: [...measuring, ...broadE2e, ...long],
					globalSetup: build,
					// Each test waits for its process for much of its time.
					maxWorkers: availableParallelism() + 1,
					sequence: { groupOrder: 1 },
				},
			},
			{
				extends: true,
				test: {
					name: "e2e-alone",
					include: measuring,
					globalSetup: build,
					maxWorkers: 1,
					sequence: { groupOrder: 2 },
				},
			},
			{
				extends: true,
				test: {
					name: "broad",
					include: broad,
					maxWorkers: availableParallelism() + 1,
					sequence: { groupOrder: 1 },
				},
			},
			{
				extends: true,
				test: {
					name: "e2e-broad",
					include: broadE2e,
					globalSetup: build,
					maxWorkers: availableParallelism() + 1,
					sequence: { groupOrder: 1 },
				},
			},
			{
				extends: true,
				test: {
					name: "long",
					include: long,
					globalSetup: build,
					maxWorkers: 1,
					sequence: { groupOrder: 3 },
				},
			},
			{
				extends: true,
				test: {
					name: "browser",
					include: ["test/browser/**/*.test.ts"],
					globalSetup: build,
					testTimeout: 60_000,
					maxWorkers: 1,
					sequence: { groupOrder: 4 },
				},
			},
			{
				extends: true,
				test: {
					name: "postgres",
					include: overPostgres,
					globalSetup: [...build, "test/support/postgres/shared-postgres.ts"],
					maxWorkers: 2,
					sequence: { groupOrder: 5 },
				},
			},
		],
	},
});
