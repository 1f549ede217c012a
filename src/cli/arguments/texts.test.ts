import { describe, expect, it } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { remoteVersion } from "../../remote/remote-version.ts";
import { infoText } from "../info.ts";
import { versionText } from "../version.ts";
import { commandNames, commands } from "./commands.ts";
import { flags } from "./flags.ts";
import { helpText, startText } from "./help.ts";

describe("versionText", () => {
	it("is the version of kimi under its names", () => {
		expect(versionText("/usr/bin/kimi")).toBe("kimi, version 1.49.0");
		expect(versionText("/usr/bin/kimi-agent")).toBe("kimi-agent, version 1.49.0");
		expect(versionText("/opt/agentwire")).toBe(
			`agentwire, version ${packageJson.version} (compatible with kimi 1.49.0)`,
		);
	});
});

describe("infoText", () => {
	it("is one line of JSON or labeled lines", () => {
		const json = infoText(true, null);
		expect(json.indexOf("\n")).toBe(json.length - 1);
		expect(JSON.parse(json)).toEqual({
			kimi_cli_version: "1.49.0",
			agent_spec_versions: ["1"],
			wire_protocol_version: "1.10",
			python_version: "n/a",
			server_name: "agentwire",
			server_version: packageJson.version,
			worker_protocol_version: remoteVersion,
			runtime: "node",
			runtime_version: process.versions.node,
		});
		expect(infoText(false, null).split("\n")).toEqual([
			`agentwire ${packageJson.version}`,
			`runtime: node ${process.versions.node}`,
			"compatible with kimi-cli 1.49.0",
			"agent spec versions: 1",
			"wire protocol: 1.10",
			`worker protocol: ${remoteVersion}`,
			"",
		]);
	});

	it("names the variable whose key gives the model", () => {
		const model = { variable: "OPENAI_API_KEY", provider: "openai", model: "a-model" };
		expect(JSON.parse(infoText(true, model))).toMatchObject({ model_source: model });
		expect(infoText(false, model)).toContain("\nmodel: a-model of openai, with the key in OPENAI_API_KEY\n");
	});
});

describe("helpText", () => {
	it("shows every spelling of each flag", () => {
		const text = helpText("kimi", null);
		const shown = text.split(/[\s,:']+/);
		expect(flags.flatMap(({ names }) => names).filter((name) => !shown.includes(name))).toEqual([]);
		expect(text.startsWith('Usage: kimi "PROMPT" [flags]\n')).toBe(true);
	});

	it("fits 100 columns", () => {
		for (const line of helpText("agentwire", null).split("\n")) expect(line.length).toBeLessThanOrEqual(100);
	});

	it("shows every command, and every usage in the command's own text", () => {
		const all = helpText("kimi", null);
		for (const name of commandNames) {
			expect(all).toContain(`  ${name}  `);
			const own = helpText("kimi", name).split("\n");
			const { forms, flags: ownFlags } = commands[name];
			expect(own.slice(0, forms.length).map((line) => line.slice("Usage: ".length))).toEqual(
				forms.map(({ words }) => `kimi ${name} ${words}`),
			);
			for (const flag of ownFlags) expect(own.join(" ").replace(/\s+/g, " ")).toContain(flag.about);
		}
		expect(helpText("kimi", "info")).toMatch(/^Usage: kimi info \[--json\]\n/);
	});

	it("has a text for a start without arguments", () => {
		expect(startText("kimi")).toMatch(/^kimi ".*\nkimi web .*\nkimi setup .*\n$/);
	});
});
