// Frozen: what the package installs, which versions it is built from, and the flags of its command line.
// When this goes red, installations or clients that start the program change: say so in the CHANGELOG, then here.
import { expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { flags } from "../../src/cli/arguments/flags.ts";
import { emulatedVersion } from "../../src/cli/version.ts";
import { protocolVersion } from "../../src/formats/protocol-version.ts";

it("pins what the package installs", () => {
	const { name, type, bin, files, engines } = packageJson;
	expect({ name, type, bin, files, engines }).toEqual({
		name: "agentwire",
		type: "module",
		bin: { agentwire: "bin/agentwire", "kimi-agent": "bin/kimi-agent" },
		files: ["bin", "dist", "docs", "examples", "schema", "skills", "CHANGELOG.md"],
		engines: { node: ">=20.19" },
	});
});

it("pins every dependency to one version", () => {
	const versions = Object.entries({ ...packageJson.dependencies, ...packageJson.devDependencies });
	expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
	expect(packageJson.dependencies).toEqual({ "@vscode/ripgrep": "1.18.0" });
});

it("pins the versions that clients check", () => {
	expect([emulatedVersion, protocolVersion]).toEqual(["1.49.0", "1.10"]);
});

it("pins the flags", () => {
	expect(flags.map(({ names, value }) => `${names.join(" ")}${value === null ? "" : " …"}`)).toEqual([
		"--wire",
		"--acp",
		"--acp-protocol …",
		"--contract …",
		"--realm …",
		"--isolated",
		"--instance …",
		"--realm-backend …",
		"--state-root …",
		"--context-root …",
		"--user-config-root …",
		"--ui …",
		"--print",
		"--prompt -p --command -c …",
		"--quiet",
		"--input-format …",
		"--output-format …",
		"--print-format …",
		"--final-message-only",
		"--work-dir -w …",
		"--add-dir …",
		"--session --resume -S -r …",
		"--continue -C",
		"--config …",
		"--config-file …",
		"--model -m …",
		"--thinking",
		"--no-thinking",
		"--agent …",
		"--agent-file …",
		"--mcp-config-file …",
		"--mcp-config …",
		"--skills-dir …",
		"--yolo --yes -y --auto-approve",
		"--take-over",
		"--plan",
		"--afk",
		"--auto",
		"--max-steps-per-turn …",
		"--max-retries-per-step …",
		"--max-ralph-iterations …",
		"--verbose",
		"--debug",
		"--version -V -v",
		"--help -h",
	]);
});
