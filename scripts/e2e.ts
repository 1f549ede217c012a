// The tests of the executable: `npm run e2e [-- --executable FILE] [PATH …]`. All of them without paths, also those that take
// long when `--long` is given. With `--executable`, of another build, such as the one file of `npm run build:binary`. With
// `--postgres`, the tests of clients over stdin and stdout, with their sessions in a PostgreSQL that is started for them.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/support/postgres/postgres-server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		executable: { type: "string" },
		long: { type: "boolean", default: false },
		postgres: { type: "boolean", default: false },
	},
});
const environment = { ...process.env };
if (values.executable !== undefined) {
	const executable = path.resolve(values.executable);
	accessSync(executable, constants.X_OK);
	environment["AGENTWIRE_EXECUTABLE"] = executable;
}
const database = values.postgres ? await startPostgres() : null;
if (database !== null) environment["AGENTWIRE_TEST_DATABASE"] = database.url;
/** Those of each dialect that look at nothing but what a client gets: others read the files of a session. */
const clients = [
	"sdk.test",
	"acp",
	...["budgets", "contract", "hooks", "mcp", "output", "session-hooks", "thinking"].map((name) => `meerkat-${name}`),
].map((name) => `test/e2e/${name}`);
const paths = positionals.length === 0 && database !== null ? clients : positionals;
const projects = ["--project", "e2e*", ...(values.long ? ["--project", "long"] : [])];
const { status } = spawnSync("npx", ["--no-install", "vitest", "run", ...projects, ...paths], {
	cwd: root,
	env: environment,
	stdio: "inherit",
});
await database?.remove();
process.exitCode = status ?? 1;
