// Measures in this process what rules and the sandbox add to a command: the time of one decision, and of one `true`.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { randomIdentifiers } from "../src/base/ids.ts";
import { silentLog } from "../src/base/log.ts";
import { createRuleJudge } from "../src/core/permissions/rules/rule-judge.ts";
import { readRules } from "../src/core/permissions/rules/rule-reader.ts";
import { createDiskFiles } from "../src/ports/files/disk-files.ts";
import { createProcesses } from "../src/ports/processes/children.ts";
import type { Confinement } from "../src/ports/processes/port.ts";
import { createSandbox } from "../src/ports/sandbox/sandbox.ts";
import { median } from "./report.ts";

/** Commands of 200 characters, of the kinds that agents run. */
const commands = [
	"cd packages/core && git status --short && git diff --stat HEAD~1 -- src test | head -50",
	"for f in $(git ls-files 'src/*.ts'); do grep -n 'TODO' \"$f\" && wc -l \"$f\"; done 2>/dev/null | sort | tail -20",
	"npm run build && npx vitest run src/kernel --reporter=dot > /tmp/out.txt 2>&1; tail -30 /tmp/out.txt",
	"docker compose exec -T db psql -c 'select count(*) from users' && curl -sS -X POST http://localhost:8080/reset",
].map((text) => `${text} # ${"x".repeat(Math.max(0, 197 - text.length))}`.slice(0, 200));

const decisions = 400;

const patterns = [
	...["git:*", "ls:*", "grep:*", "npm run:*", "npx vitest:*", "tail:*"].map((text) => ["allow", text] as const),
	...["rm -rf /:*", "git push --force:*", "curl -X DELETE:*", "sudo:*"].map((text) => ["deny", text] as const),
	...["npm publish:*", "docker run:*"].map((text) => ["ask", text] as const),
];

/** Milliseconds of each decision, after the first ones. */
async function timeDecisions(): Promise<readonly number[]> {
	const declarations = patterns.map(([decision, text]) => ({
		...{ decision, pattern: `Shell(${text})`, reason: "" },
		...{ match: [], notMatch: [], line: null },
	}));
	const { rules } = await readRules(declarations, { scope: "user", file: null, base: null, home: "/home/me" });
	const place = {
		home: "/home/me",
		roots: async () => ["/work"],
		resolve: async (file: string) => file,
		repositoryProgram: async () => null,
	};
	const judge = createRuleJudge({ rules, grants: () => [], allowsReadOnly: "always", place });
	const times: number[] = [];
	for (let round = -1; round < decisions / commands.length; round += 1) {
		for (const text of commands) {
			const request = {
				action: "run command",
				subjects: [{ kind: "command", text, cwd: "/work" }],
				byDefault: "ask",
			} as const;
			const startedAt = performance.now();
			await judge.decide(request);
			if (round >= 0) times.push(performance.now() - startedAt);
		}
	}
	return times;
}

interface CommandTimes {
	readonly plain: number;
	readonly sandboxed: number;
	/** The median of the differences between two that ran one after the other: load changes them less. */
	readonly added: number;
}

/** Milliseconds of one `true`, without and with the sandbox, in turns; null where there can be none. */
async function timeCommands(folder: string): Promise<CommandTimes | null> {
	const workDir = path.join(folder, "sandbox");
	mkdirSync(workDir, { recursive: true });
	const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
	const processes = createProcesses();
	const sandbox = createSandbox(
		{
			...{ mode: "workspace-write", writable: [], hidden: [], readOnly: [], network: "none", allowedDomains: [] },
			...{ autoAllow: false, mcpServers: false, creators: true, environment: { pass: [], set: {}, drop: [] } },
		},
		{
			...{ home: "/home/me", shareDirs: [], temporaryDirs: ["/tmp"], environment, files: createDiskFiles(), processes },
			...{ clock: systemClock, identifiers: randomIdentifiers, log: silentLog, processId: process.pid },
		},
	);
	if ((await sandbox.status()).kind !== "active") return null;
	const run = async (confinement: Confinement | null): Promise<number> => {
		const startedAt = performance.now();
		const { ended } = await processes.run(
			{
				...{ file: "/bin/sh", arguments: ["-c", "true"], workDir, environment, outputLimit: 1000, timeout: 10_000 },
				...(confinement === null ? {} : { confinement }),
			},
			new AbortController().signal,
		);
		if (ended.kind !== "exited" || ended.exitCode !== 0) throw new Error("A `true` failed.");
		return performance.now() - startedAt;
	};
	const plain: number[] = [];
	const sandboxed: number[] = [];
	for (let round = 0; round < 20; round += 1) {
		plain.push(await run(null));
		sandboxed.push(await run(await sandbox.confinementFor({ workDir, additionalDirs: [] })));
	}
	await sandbox.close();
	const differences = sandboxed.map((time, round) => time - (plain[round] ?? 0));
	return { plain: median(plain), sandboxed: median(sandboxed), added: median(differences) };
}

export interface PermissionTimes {
	/** Milliseconds. */
	readonly decision: number;
	readonly commands: CommandTimes | null;
}

export async function measurePermissions(folder: string): Promise<PermissionTimes> {
	const decision = median(await timeDecisions());
	return { decision, commands: await timeCommands(folder) };
}
