// Signing in and out with the built executable, and what sessions make of a sign-in, against a platform on loopback.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isLoggedIn, login, logout, parseConfig } from "@moonshot-ai/kimi-agent-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import {
	createStage,
	executablePath,
	type Finished,
	runExecutable,
	type Stage,
} from "../support/executable/executable.ts";
import { outline, type Server } from "../support/executable/running-server.ts";
import { type PlatformServer, startPlatformServer } from "../support/host/platform-server.ts";

interface Subject {
	readonly server: PlatformServer;
	readonly stage: Stage;
	readonly variables: Readonly<Record<string, string>>;
	readonly configFile: string;
	readonly tokenFile: string;
	run(...argv: string[]): Promise<Finished>;
	/** Puts tokens of the platform into their file; they were given `age` seconds ago for an hour. */
	putTokens(age: number): void;
	/** Starts a session with the model of the platform. */
	serve(): Server;
	log(): string;
}

async function createSubject(): Promise<Subject> {
	const server = await startPlatformServer();
	onTestFinished(() => server.close());
	const stage = createStage();
	const variables = { KIMI_CODE_OAUTH_HOST: server.url, KIMI_CODE_BASE_URL: `${server.url}/v1` };
	const env = { ...stage.environment, ...variables };
	const tokenFile = path.join(stage.shareDir, "credentials", "kimi-code.json");
	return {
		server,
		stage,
		variables,
		configFile: path.join(stage.shareDir, "config.toml"),
		tokenFile,
		run: (...argv) => runExecutable(executablePath, argv, { cwd: stage.workDir, env }),
		putTokens(age) {
			const tokens = { ...server.issue(), expires_at: Date.now() / 1000 - age + 3600, expires_in: 3600 };
			mkdirSync(path.dirname(tokenFile), { recursive: true });
			writeFileSync(tokenFile, JSON.stringify({ ...tokens, scope: "", token_type: "Bearer" }), { mode: 0o600 });
		},
		serve: () => stage.serveWith(variables, "--wire", "--model", "kimi-code/kimi-for-coding"),
		log: () => readFileSync(path.join(stage.shareDir, "logs", "agentwire.log"), "utf8"),
	};
}

const toEvents = (stdout: string): unknown[] =>
	stdout.split("\n").flatMap((line) => (line === "" ? [] : JSON.parse(line)));
const read = (file: string) => readFileSync(file, "utf8");

/** The tokens stored in a file, by their numbers. */
const persistedTokens = (file: string) => {
	const { access_token, refresh_token } = JSON.parse(read(file));
	return [access_token, refresh_token];
};

async function end(server: Server): Promise<void> {
	server.endInput();
	expect(await server.exited).toBe(0);
}

/** Runs a prompt; the outline of its turn, and its end. */
async function prompt(server: Server, id = "prompt") {
	server.prompt("hello", id);
	const lines = await server.readUntil((line) => line.id === id);
	return { delivered: outline(lines), error: lines.at(-1)?.error };
}

const finished = ["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd", "finished"];

describe("signing in", () => {
	it("reports each event on a line, stores the tokens and edits the settings in place", async () => {
		const { server, run, configFile, tokenFile } = await createSubject();
		const before = `# mine\n${read(configFile)}\n# end`;
		writeFileSync(configFile, before);
		server.beforeGrant.push("authorization_pending", "authorization_pending");
		const { code, stdout, stderr } = await run("login", "--json");
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout.split("\n").map((line) => line.slice(0, 20))).toEqual([
			'{"type":"verificatio',
			'{"type":"waiting","m',
			'{"type":"info","mess',
			'{"type":"success","m',
			"",
		]);
		expect(toEvents(stdout)).toEqual([
			{
				type: "verification_url",
				message: expect.any(String),
				data: { verification_url: `${server.url}/device?code=ABCD-1234`, user_code: "ABCD-1234" },
			},
			{ type: "waiting", message: expect.any(String), data: null },
			{ type: "info", message: "Models: kimi-code/kimi-for-coding, kimi-code/kimi-small. Default: m.", data: null },
			{ type: "success", message: "Signed in.", data: null },
		]);
		expect(persistedTokens(tokenFile)).toEqual(["access-token-1", "refresh-token-1"]);
		expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
		expect(statSync(path.dirname(tokenFile)).mode & 0o777).toBe(0o700);
		expect(readdirSync(path.dirname(tokenFile))).toEqual(["kimi-code.json"]);
		expect(read(configFile)).toBe(`${before}

[providers."managed:kimi-code"]
type = "kimi"
base_url = "${server.url}/v1"
api_key = ""
oauth = { storage = "file", key = "oauth/kimi-code" }

[models."kimi-code/kimi-for-coding"]
provider = "managed:kimi-code"
model = "kimi-for-coding"
max_context_size = 262144
capabilities = ["image_in", "thinking"]
display_name = "Kimi for Coding"

[models."kimi-code/kimi-small"]
provider = "managed:kimi-code"
model = "kimi-small"
max_context_size = 100000
capabilities = []
`);
	});

	it("is shown to people as text, and makes the settings of a new share directory", async () => {
		const { server, stage, variables } = await createSubject();
		const shareDir = path.join(stage.workDir, "new-share");
		const env = { ...stage.environment, ...variables, KIMI_SHARE_DIR: shareDir };
		const { code, stdout, stderr } = await runExecutable(executablePath, ["login"], { cwd: stage.workDir, env });
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout).toBe(`Open this address in a browser and confirm that the code is the same there:

  ${server.url}/device?code=ABCD-1234

Code: ABCD-1234

Waiting for the confirmation …
Models: kimi-code/kimi-for-coding, kimi-code/kimi-small. Default: kimi-code/kimi-for-coding.
Signed in.
`);
		expect(read(path.join(shareDir, "config.toml"))).toMatch(/^default_model = "kimi-code\/kimi-for-coding"$/m);
	});

	it("works from the published client, which sees it in the settings", async () => {
		const { stage, variables, server, configFile } = await createSubject();
		const options = { executable: executablePath, env: { ...stage.environment, ...variables } };
		writeFileSync(configFile, 'default_model = ""\n');
		expect(isLoggedIn(stage.shareDir)).toBe(false);
		const urls: string[] = [];
		expect(await login({ ...options, onUrl: (url: string) => void urls.push(url) })).toEqual({ success: true });
		expect(urls).toEqual([`${server.url}/device?code=ABCD-1234`]);
		expect(isLoggedIn(stage.shareDir)).toBe(true);
		expect(parseConfig(stage.shareDir)).toEqual({
			defaultModel: "kimi-code/kimi-for-coding",
			defaultThinking: false,
			models: [
				{ id: "kimi-code/kimi-for-coding", name: "kimi-code/kimi-for-coding", capabilities: ["image_in", "thinking"] },
				{ id: "kimi-code/kimi-small", name: "kimi-code/kimi-small", capabilities: [] },
			],
		});
		expect(await logout(options)).toEqual({ success: true });
		expect(isLoggedIn(stage.shareDir)).toBe(false);
	});

	it.each([
		["is refused in the browser", "access_denied", "The sign-in was refused in the browser."],
		["is not confirmed in time", "expired_token", "Nobody confirmed the code in time. Sign in again for a new one."],
	])("that %s changes nothing", async (_, error, message) => {
		const { server, run, configFile, tokenFile } = await createSubject();
		const before = read(configFile);
		server.beforeGrant.push("authorization_pending", error);
		const { code, stdout, stderr } = await run("login", "--json");
		expect([code, stderr]).toEqual([1, `Error: ${message}\n`]);
		expect(toEvents(stdout)).toMatchObject([
			{ type: "verification_url" },
			{ type: "waiting" },
			{ type: "error", message, data: null },
		]);
		expect([read(configFile), existsSync(tokenFile)]).toEqual([before, false]);
	});

	it("is not begun with settings that cannot be read", async () => {
		const { server, run, configFile } = await createSubject();
		const broken = "default_model = \n";
		writeFileSync(configFile, broken);
		const { code, stderr } = await run("login");
		expect(code).toBe(1);
		expect(stderr).toContain(`Error: Invalid TOML in configuration file ${configFile}:\n  not TOML at line 1, column `);
		expect(server.requests).toEqual([]);
		expect(read(configFile)).toBe(broken);
	});

	it("remains valid when the settings were broken meanwhile, and the output says what to do", async () => {
		const { server, run, configFile, tokenFile } = await createSubject();
		Object.defineProperty(server, "models", {
			get() {
				writeFileSync(configFile, "[[[");
				return [{ id: "k" }];
			},
		});
		const { code, stderr } = await run("login");
		expect(code).toBe(1);
		expect(stderr).toMatch(
			/^Error: Signed in, but the settings file was not changed\. Invalid TOML in [\s\S]*\nFix it and run the command again\.\n$/,
		);
		expect([read(configFile), existsSync(tokenFile)]).toEqual(["[[[", true]);
	});

	it.each(["SIGINT", "SIGTERM"] as const)("ends cleanly with %s", async (signal) => {
		const { server, stage, variables, tokenFile } = await createSubject();
		server.device = { interval: 100 };
		const env = { ...stage.environment, ...variables };
		const child = spawn(executablePath, ["login", "--json"], { cwd: stage.workDir, env });
		let stdout = "";
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			stdout += text;
			if (text.includes('"waiting"')) child.kill(signal);
		});
		const [code] = await once(child, "close");
		expect(code).toBe(1);
		expect(toEvents(stdout).at(-1)).toEqual({ type: "error", message: "The sign-in was stopped.", data: null });
		expect(existsSync(tokenFile)).toBe(false);
	});
});

describe("signing out", () => {
	it("removes exactly what signing in wrote", async () => {
		const { run, configFile, tokenFile } = await createSubject();
		const before = read(configFile);
		await run("login");
		expect(read(configFile)).not.toBe(before);
		const { code, stdout, stderr } = await run("logout", "--json");
		expect([code, stderr, toEvents(stdout)]).toEqual([
			0,
			"",
			[{ type: "success", message: "Signed out.", data: null }],
		]);
		expect([read(configFile), existsSync(tokenFile)]).toEqual([before, false]);
		expect(await run("logout")).toEqual({ code: 0, stdout: "Nobody was signed in.\n", stderr: "" });
	});

	it("removes the tokens although the settings cannot be read, and says what to do", async () => {
		const { run, configFile, tokenFile, putTokens } = await createSubject();
		putTokens(0);
		writeFileSync(configFile, "[models");
		const { code, stderr } = await run("logout", "--json");
		expect(code).toBe(1);
		expect(stderr).toMatch(/^Error: Signed out, but the settings file was not changed\. Invalid TOML/);
		expect([read(configFile), existsSync(tokenFile)]).toEqual(["[models", false]);
	});
});

describe("a session with a sign-in", () => {
	it("uses the token, and renews it at the start of a turn when half its time is over", async () => {
		const { server, run, serve, putTokens, tokenFile, log } = await createSubject();
		await run("login");
		const session = serve();
		expect(await prompt(session, "one")).toEqual({ delivered: finished, error: undefined });
		expect(server.requests.at(-1)).toMatchObject({ authorization: "Bearer access-token-1" });
		expect(server.refreshes).toBe(0);
		putTokens(1900);
		expect((await prompt(session, "two")).delivered).toEqual(finished);
		expect(server.requests.at(-1)).toMatchObject({ authorization: "Bearer access-token-3" });
		expect([server.refreshes, persistedTokens(tokenFile)]).toEqual([1, ["access-token-3", "refresh-token-3"]]);
		expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
		await end(session);
		expect(log()).toContain("A sign-in was renewed.");
		expect(log()).not.toMatch(/(access|refresh)-token-\d/);
	});

	it("renews a token that the provider refuses, without reporting it", async () => {
		const { server, run, serve } = await createSubject();
		await run("login");
		server.revokeAccess();
		const session = serve();
		expect(await prompt(session)).toEqual({ delivered: finished, error: undefined });
		expect(server.requests.map(({ path: at }) => at).slice(-3)).toEqual([
			"/v1/chat/completions",
			"/api/oauth/token",
			"/v1/chat/completions",
		]);
		await end(session);
	});

	it("renews it once when two processes need it, so that no refresh token is used twice", async () => {
		const { server, run, serve, putTokens, tokenFile } = await createSubject();
		await run("login");
		putTokens(1900);
		const sessions = [serve(), serve()];
		for (const session of sessions) session.initialize();
		await Promise.all(sessions.map((session) => session.response("initialize")));
		const asked = new Promise<void>((resolve) => {
			server.beforeRefresh = async () => {
				resolve();
				// Long enough for the other process to come for it too.
				await new Promise((wait) => setTimeout(wait, 300));
			};
		});
		for (const session of sessions) session.prompt("hello");
		await asked;
		for (const session of sessions) {
			const lines = await session.readUntil((line) => line.id === "prompt");
			expect(outline(lines)).toEqual(finished);
		}
		expect(server).toMatchObject({ refreshes: 1, reuses: 0 });
		expect(persistedTokens(tokenFile)).toEqual(["access-token-3", "refresh-token-3"]);
		const used = server.requests.filter(({ path: at }) => at === "/v1/chat/completions");
		expect(used.map(({ authorization }) => authorization)).toEqual(["Bearer access-token-3", "Bearer access-token-3"]);
		await Promise.all(sessions.map(end));
	});

	it("says that one has to sign in again when renewing fails, and continues after a new sign-in", async () => {
		const { server, run, serve, stage } = await createSubject();
		await run("login");
		server.revokeAccess();
		server.refreshFailure = { status: 400, body: { error: "invalid_grant", error_description: "The session ended" } };
		const session = serve();
		expect(await prompt(session, "one")).toEqual({
			delivered: ["TurnBegin", "StepBegin", "StepInterrupted", "TurnEnd", "-32004"],
			error: {
				code: -32004,
				message: 'The sign-in is not renewed any more: The session ended. Run "agentwire login" to sign in again.',
				data: null,
			},
		});
		server.refreshFailure = null;
		await run("login");
		expect((await prompt(session, "two")).delivered).toEqual(finished);
		await run("logout");
		expect((await prompt(session, "three")).error).toMatchObject({
			code: -32004,
			message: 'Nobody is signed in. Run "agentwire login" to sign in again.',
		});
		await end(session);
		expect(stage.sessionIds()).toHaveLength(1);
	});

	it("says the same when the provider refuses the new token too", async () => {
		const { server, run, serve, variables, stage } = await createSubject();
		await run("login");
		server.refuseAccess();
		const session = serve();
		expect((await prompt(session)).error).toEqual({
			code: -32004,
			message: 'The provider refuses the sign-in: Invalid Authentication. Run "agentwire login" to sign in again.',
			data: null,
		});
		expect(server.refreshes).toBe(1);
		await end(session);
		const env = { ...stage.environment, ...variables };
		const argv = ["--quiet", "-m", "kimi-code/kimi-for-coding", "-p", "hello"];
		expect(await runExecutable(executablePath, argv, { cwd: stage.workDir, env })).toMatchObject({
			code: 1,
			stdout: expect.stringContaining('Run "agentwire login"'),
		});
	});

	it("says with 403 that the platform may admit clients by name, and requests no new sign-in", async () => {
		const { server, run, serve } = await createSubject();
		await run("login");
		server.refusal = 403;
		const session = serve();
		const { error } = await prompt(session);
		expect(error).toMatchObject({ code: -32003 });
		expect(error?.message).toMatch(
			/^Not for this client\. The platform may admit clients by name and answer all others /,
		);
		expect(error?.message).not.toContain("agentwire login");
		await end(session);
		const again = await run("login");
		expect(again.code).toBe(1);
		expect(again.stderr).toMatch(/HTTP 403 \(Not for this client\)\. The platform may admit clients by name/);
	});

	it("uses a key from a variable instead", async () => {
		const { server, run, stage, variables } = await createSubject();
		await run("login");
		const { access_token } = server.issue();
		const more = { ...variables, KIMI_API_KEY: access_token };
		const session = stage.serveWith(more, "--wire", "--model", "kimi-code/kimi-for-coding");
		expect((await prompt(session, "one")).delivered).toEqual(finished);
		server.revokeAccess();
		expect((await prompt(session, "two")).error?.code).toBe(-32003);
		await end(session);
	});

	it("gives plugins the current token, and redacts it in their errors", async () => {
		const { run, stage, variables, configFile } = await createSubject();
		const plugin = path.join(stage.shareDir, "plugins", "demo");
		mkdirSync(plugin, { recursive: true });
		const command = ["sh", "-c", 'echo "no use with $DEMO_KEY" >&2; exit 3'];
		const manifest = { name: "demo", version: "1", config_file: "c.json", inject: { DEMO_KEY: "api_key" } };
		const tools = [{ name: "fail", command }];
		writeFileSync(path.join(plugin, "plugin.json"), JSON.stringify({ ...manifest, tools }));
		await run("login");
		writeFileSync(configFile, read(configFile).replace('"m"', '"kimi-code/kimi-small"'));
		stage.setScripts([`tool_call: ${JSON.stringify({ id: "c", name: "fail", arguments: "{}" })}`, "text: done"]);
		const session = stage.serveWith(variables, "--wire", "--yolo", "--model", "m");
		session.prompt("hello");
		const { params } = await session.message("ToolResult");
		expect(params?.payload["return_value"]).toMatchObject({
			is_error: true,
			output: "no use with [hidden]\n",
		});
		await session.response("prompt");
		await end(session);
	});
});
