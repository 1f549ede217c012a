// The tests of the executable: `npm run e2e [-- --executable FILE] [PATH …]`. All of them without paths, also those that take
// long when `--long` is given. With `--executable`, of another build, such as the one file of `npm run build:binary`.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: { executable: { type: "string" }, long: { type: "boolean", default: false } },
});
const environment = { ...process.env };
if (values.executable !== undefined) {
	const executable = path.resolve(values.executable);
	accessSync(executable, constants.X_OK);
	environment["AGENTWIRE_EXECUTABLE"] = executable;
}
const projects = ["--project", "e2e*", ...(values.long ? ["--project", "long"] : [])];
const { status } = spawnSync("npx", ["--no-install", "vitest", "run", ...projects, ...positionals], {
	cwd: root,
	env: environment,
	stdio: "inherit",
});
process.exitCode = status ?? 1;
