// The project of the demo: a basket of prices whose total is wrong, and the test that says so.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** What runs the test, by the agent as well as by the demo. */
export const testCommand = "node --test --test-reporter=spec";

export const faultyLine = "for (let index = 1; index < prices.length; index += 1) {";
export const fixedLine = "for (let index = 0; index < prices.length; index += 1) {";

const files: Readonly<Record<string, string>> = {
	"package.json": `${JSON.stringify({ name: "basket", private: true, type: "module" }, null, 2)}\n`,
	"basket.js": `// What a basket costs, in cents.
export function total(prices) {
  let sum = 0;
  ${faultyLine}
    sum += prices[index];
  }
  return sum;
}
`,
	"basket.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "./basket.js";

test("the total counts every price", () => {
  assert.equal(total([300, 400, 500]), 1200);
});

test("an empty basket costs nothing", () => {
  assert.equal(total([]), 0);
});
`,
};

/** Writes the project into `directory`, which is made. */
export function writeProject(directory: string): void {
	mkdirSync(directory, { recursive: true });
	for (const [name, content] of Object.entries(files)) writeFileSync(path.join(directory, name), content);
}

/** Makes the project a git repository with one commit, whatever git is set up like; false when there is no git. */
export function commitProject(directory: string, environment: NodeJS.ProcessEnv): boolean {
	const identity = ["-c", "user.name=Demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgsign=false"];
	return [
		["init", "--quiet"],
		["add", "--all"],
		[...identity, "commit", "--quiet", "--no-verify", "--message", "A basket and its test"],
	].every((words) => spawnSync("git", words, { cwd: directory, env: environment, stdio: "ignore" }).status === 0);
}

/** The uncommitted change as git shows it, or null if git cannot. */
export function showChange(directory: string, environment: NodeJS.ProcessEnv): string | null {
	const words = ["--no-pager", "diff", "--stat", "--no-color"];
	const { status, stdout } = spawnSync("git", words, { cwd: directory, env: environment, encoding: "utf8" });
	return status === 0 ? stdout.trimEnd() : null;
}

/** Runs the test, without the agent. */
export function doesTestPass(directory: string, environment: NodeJS.ProcessEnv): boolean {
	return spawnSync(testCommand, { cwd: directory, env: environment, shell: true, stdio: "ignore" }).status === 0;
}
