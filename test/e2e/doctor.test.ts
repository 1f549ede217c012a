// The command `doctor` over a usable stage and over stages that lack something.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { hasBubblewrap } from "../support/executable/bubblewrap.ts";
import { createStage, executablePath, runExecutable, type Stage } from "../support/executable/executable.ts";

const names = [
	"node",
	"configuration",
	"mcp",
	"rules",
	"model",
	"sandbox",
	"ripgrep",
	"store",
	"sessions",
	"permissions",
];

async function examine(stage: Stage) {
	const { code, stdout, stderr } = await stage.run("doctor", "--json");
	const answer: { ok: boolean; checks: { name: string; status: string; found: string; advice: string | null }[] } =
		JSON.parse(stdout);
	expect(stderr).toBe("");
	expect(answer.checks.map(({ name }) => name)).toEqual(names);
	return { code, ok: answer.ok, of: (name: string) => answer.checks.find((check) => check.name === name) };
}

function secure(stage: Stage): void {
	chmodSync(stage.shareDir, 0o700);
	chmodSync(path.join(stage.shareDir, "config.toml"), 0o600);
}

describe("agentwire doctor", () => {
	it("finds nothing to do where all is well, and leaves no session", async () => {
		const stage = createStage();
		secure(stage);
		const { code, ok, of } = await examine(stage);
		expect({ code, ok }).toEqual({ code: 0, ok: true });
		for (const name of names) expect(of(name)).toMatchObject({ status: "ok", advice: null });
		expect(of("ripgrep")?.found).toMatch(/^ripgrep \d/);
		expect(stage.sessionIds()).toEqual([]);
		expect((await stage.run("doctor")).stdout).toMatch(/^ok {7}node {11}(?:Node|Bun) \d/);
	});

	it("checks what a run with these flags would use", async () => {
		const stage = createStage();
		const of = async (name: string, ...flags: readonly string[]) => {
			const { stdout } = await stage.run("doctor", "--json", ...flags);
			const { checks } = JSON.parse(stdout) as {
				checks: { name: string; status: string; found: string; advice: string | null }[];
			};
			return checks.find((check) => check.name === name);
		};
		expect(await of("model", "--model", "none")).toMatchObject({ status: "failed", advice: "They have: m." });
		expect(await of("model", "--model", "scripted")).toMatchObject({ status: "ok" });
		expect(await of("model", "--config", "{}")).toMatchObject({ status: "failed", found: "No model is configured." });
		expect(await of("mcp", "--mcp-config", '{"mcpServers":{"x":{"command":"/bin/x"}}}')).toMatchObject({
			found: expect.stringContaining("x"),
		});
		const missing = await stage.run("doctor", "--work-dir", "nowhere");
		expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("--work-dir") });
	});

	it("warns where commands run with the rights of the person and nobody is asked", async () => {
		const stage = createStage();
		secure(stage);
		const file = path.join(stage.shareDir, "config.toml");
		const settings = readFileSync(file, "utf8");
		expect((await examine(stage)).of("sandbox")).toMatchObject({ status: "ok" });
		writeFileSync(file, `default_yolo = true\n${settings}`);
		expect((await examine(stage)).of("sandbox")).toMatchObject({
			status: "warning",
			found: expect.stringContaining("default_yolo"),
		});
	});

	it("fails where mcp.json or the rules of the project would stop a start, and names the file", async () => {
		const stage = createStage();
		secure(stage);
		const servers = path.join(stage.shareDir, "mcp.json");
		const rules = path.join(stage.workDir, ".agentwire", "permissions.toml");
		writeFileSync(servers, '{"mcpServers":{"one":{"command":"true"}}}', { mode: 0o600 });
		mkdirSync(path.dirname(rules));
		writeFileSync(rules, '[[permission.rules]]\ndecision = "allow"\npattern = "Shell(ls)"\n');
		const usable = await examine(stage);
		expect(usable.of("mcp")).toMatchObject({ status: "ok", found: expect.stringContaining("one") });
		writeFileSync(servers, '{"mcpServers":{"two":{"command":"node","args":["./server.js"]}}}', { mode: 0o600 });
		expect((await examine(stage)).of("mcp")).toMatchObject({
			status: "warning",
			found: expect.stringMatching(/relative.*two/),
		});
		expect(usable.of("rules")).toMatchObject({
			status: "warning",
			advice: expect.stringContaining("permissions trust"),
		});
		expect(usable.code).toBe(0);
		writeFileSync(servers, "{");
		writeFileSync(rules, '[[permission.rules]]\ndecision = "allow"\npattern = "Shell("\n');
		expect((await stage.run("-p", "hi")).code).not.toBe(0);
		const unusable = await examine(stage);
		expect(unusable.code).toBe(1);
		expect(unusable.of("mcp")).toMatchObject({ status: "failed", advice: expect.stringContaining(servers) });
		expect(unusable.of("rules")).toMatchObject({ status: "failed", found: expect.stringContaining(rules) });
	});

	it("says what to do about files that others may read", async () => {
		const stage = createStage();
		secure(stage);
		const file = path.join(stage.shareDir, "config.toml");
		chmodSync(file, 0o644);
		const { code, of } = await examine(stage);
		expect(of("permissions")).toMatchObject({ status: "warning", advice: `Run: chmod go-rwx ${file}` });
		expect(code).toBe(0);
	});

	it("gives a command about files that a shell takes as it is", async () => {
		const stage = createStage();
		const shareDir = path.join(stage.workDir, "it's mine");
		mkdirSync(shareDir);
		chmodSync(shareDir, 0o755);
		const env = { ...stage.environment, KIMI_SHARE_DIR: shareDir };
		const { stdout } = await runExecutable(executablePath, ["doctor"], { cwd: stage.workDir, env });
		const [, advice = ""] = /Run: (chmod go-rwx .*)/.exec(stdout) ?? [];
		execFileSync("sh", ["-c", advice]);
		expect(statSync(shareDir).mode & 0o777).toBe(0o700);
	});

	it("says what to do without settings, and with unusable ones", async () => {
		const stage = createStage();
		const file = path.join(stage.shareDir, "config.toml");
		writeFileSync(file, "default_model = 3\n");
		const unusable = await examine(stage);
		expect(unusable.of("configuration")).toMatchObject({ status: "failed", advice: expect.stringContaining(file) });
		expect(unusable.code).toBe(1);
		rmSync(file);
		const without = await examine(stage);
		expect(without.of("configuration")).toMatchObject({ status: "warning" });
		expect(without.of("model")).toMatchObject({ status: "failed" });
	});

	it("gives no advice about a file that is named as the share directory but to name another", async () => {
		const stage = createStage();
		const file = path.join(stage.workDir, "a-file");
		writeFileSync(file, "mine", { mode: 0o644 });
		const env = { ...stage.environment, KIMI_SHARE_DIR: file };
		const { stdout } = await runExecutable(executablePath, ["doctor"], { cwd: stage.workDir, env });
		expect(stdout).toContain(`FAILED   sessions       The share directory ${file} is not a directory.`);
		expect(stdout).not.toContain("chmod");
		expect(stdout).not.toContain("Move");
	});

	it.skipIf(!hasBubblewrap()).each([
		["is read-only", (shareDir: string) => ["--ro-bind", shareDir, shareDir], "EROFS"],
		["is full", (shareDir: string) => ["--size", "65536", "--tmpfs", shareDir], "no space is left"],
	])("says that the share directory %s", async (_name, mount, why) => {
		const stage = createStage();
		const flags = ["--dev-bind", "/", "/", ...mount(stage.shareDir), executablePath, "doctor"];
		const { code, stdout } = await runExecutable("bwrap", flags, { cwd: stage.workDir, env: stage.environment });
		expect(code).toBe(1);
		const sessions = path.join(stage.shareDir, "sessions");
		expect(stdout).toMatch(new RegExp(`^FAILED   sessions       ${sessions} is not writable: .*${why}`, "m"));
	});

	it("lists the keys of the settings that are ignored", async () => {
		const stage = createStage();
		const file = path.join(stage.shareDir, "config.toml");
		const text = readFileSync(file, "utf8");
		writeFileSync(file, `default_modle = "m"\n${text}\n[agentwire.limits]\nsession_token = 5\n`);
		const { code, of } = await examine(stage);
		expect(of("configuration")).toEqual({
			name: "configuration",
			status: "warning",
			found: `${file} has keys that are ignored: default_modle, agentwire.limits.session_token.`,
			advice: "Check the spelling; docs/reference/configuration.md lists the settings.",
		});
		expect(code).toBe(0);
	});

	it("says where a model comes from, if there is none", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), 'theme = "dark"\n');
		const { of } = await examine(stage);
		expect(of("model")).toMatchObject({
			status: "failed",
			found: "No model is configured.",
			advice: expect.stringContaining("agentwire setup"),
		});
	});

	it("says that a model cannot be reached, and why", async () => {
		const stage = createStage();
		writeModel(stage, "http://127.0.0.1:9/v1");
		const { of } = await examine(stage);
		expect(of("model")).toMatchObject({ status: "failed", found: expect.stringContaining("127.0.0.1:9") });
		expect(of("model")?.found).toMatch(/cannot be reached: bad port/);
	});

	it.each([
		["", "The setting providers.p.base_url, which default_model needs, is empty."],
		["example.org/v1", "providers.p.base_url, used by m, is not an http(s) URL."],
		["ftp://example.org", "providers.p.base_url, used by m, is not an http(s) URL."],
	])("fails where no prompt could reach the model's address %j", async (baseUrl, found) => {
		const stage = createStage();
		writeModel(stage, baseUrl);
		const { code, of } = await examine(stage);
		expect(of("model")).toMatchObject({ status: "failed", found });
		expect(code).toBe(1);
	});

	it("checks the address that a variable gives, with and without a model in the settings", async () => {
		const server = createServer((_request, response) => response.end("{}")).listen(0, "127.0.0.1");
		await once(server, "listening");
		const address = server.address();
		if (address === null || typeof address === "string") throw new Error("the server has no port");
		const url = `http://127.0.0.1:${address.port}/v1`;
		const stage = createStage();
		const modelOf = async (variables: Readonly<Record<string, string>>) => {
			const env = { ...stage.environment, ...variables };
			const { stdout } = await runExecutable(executablePath, ["doctor"], { cwd: stage.workDir, env });
			return /^.* model .*$/m.exec(stdout)?.[0];
		};
		writeModel(stage, "http://127.0.0.1:9/v1");
		expect(await modelOf({ OPENAI_BASE_URL: url })).toMatch(/^ok .* m \(openai_legacy\): 127\.0\.0\.1:\d+ answers/);
		writeFileSync(path.join(stage.shareDir, "config.toml"), "");
		const alone = { KIMI_BASE_URL: url, KIMI_MODEL_NAME: "k3" };
		expect(await modelOf(alone)).toMatch(/^ok .* k3 \(kimi\): 127\.0\.0\.1:\d+ answers/);
		expect(await modelOf({ ...alone, KIMI_MODEL_TOP_P: "much" })).toMatch(
			/^FAILED .*KIMI_MODEL_TOP_P: must be a number/,
		);
		server.close();
	});
});

/** Settings with one model, `m` of the provider `p`. */
function writeModel(stage: Stage, baseUrl: string): void {
	writeFileSync(
		path.join(stage.shareDir, "config.toml"),
		`default_model = "m"
[models.m]
provider = "p"
model = "x"
max_context_size = 1000
[providers.p]
type = "openai_legacy"
base_url = "${baseUrl}"
api_key = "k"
`,
	);
}
