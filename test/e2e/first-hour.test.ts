// What a new user meets without settings and without a key: the advice on every surface, and a try without a key.
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";
import { answer, end, serve } from "../support/meerkat/meerkat-lines.ts";

const advice =
	/Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; or run `agentwire setup`; or .*`--model scripted`/;

/** Without settings. */
function createBareStage() {
	const stage = createStage();
	rmSync(path.join(stage.shareDir, "config.toml"), { force: true });
	return stage;
}

describe("without a model", () => {
	it("a prompt fails with what to do, and offers no session to resume", async () => {
		const { code, stdout, stderr } = await createBareStage().run("fix the test");
		expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
		expect(stdout).toMatch(/^Error: LLM not set: no model is configured\. /);
		expect(stdout).toMatch(advice);
	});

	it.each(["--wire", "acp", "rpc"])("a server says so on stderr: %s", async (mode) => {
		const server = createBareStage().serve(...mode.split(" "));
		await expect.poll(() => server.stderr, { timeout: 20_000 }).toMatch(advice);
	});
});

describe("the scripted model", () => {
	it("looks at the directory, answers, and goes on in the same session", async () => {
		const stage = createBareStage();
		const { code, stdout } = await stage.run("--model", "scripted", "--session", "s", "fix the test");
		expect(code).toBe(0);
		expect(stdout).toContain("> Glob ");
		expect(stdout).toContain("You asked: fix the test");
		const again = await stage.run("--model", "scripted", "--session", "s", "--quiet", "-p", "and now?");
		expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("You asked: and now?") });
	});

	it("is the model of a server that is started with it", async () => {
		const server = serve(createBareStage(), "--model", "scripted");
		const created = await answer(server, "create", "session/create", { prompt: "hello" });
		expect(JSON.stringify(created.result)).toContain("You asked: hello");
		await end(server);
	});
});

describe("AGENTWIRE_HOME", () => {
	it("names the share directory where KIMI_SHARE_DIR does not", async () => {
		const stage = createBareStage();
		const home = path.join(stage.workDir, "home");
		const { KIMI_SHARE_DIR = "", ...others } = stage.environment;
		const words = ["--model", "scripted", "--session", "s", "hello there"];
		const options = { cwd: stage.workDir, env: { ...others, AGENTWIRE_HOME: home } };
		expect((await runExecutable(executablePath, words, options)).code).toBe(0);
		expect(existsSync(path.join(home, "sessions"))).toBe(true);
		const both = { ...options, env: { ...options.env, KIMI_SHARE_DIR, AGENTWIRE_HOME: `${home}-other` } };
		expect((await runExecutable(executablePath, words, both)).code).toBe(0);
		expect(existsSync(`${home}-other`)).toBe(false);
	});
});
