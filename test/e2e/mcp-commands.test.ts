// The `mcp` commands with the built executable, as people and the VS Code extension call them: the file they edit, real
// servers they try out, and signing in over a real OAuth flow, the browser being the test.
import { spawn } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
	createStage,
	executablePath,
	type Finished,
	runExecutable,
	runsOnBun,
	type Stage,
	toolCall,
} from "../support/executable/executable.ts";
import type { AuthorizationServerOptions } from "../support/mcp/authorization-server.ts";
import { type McpOAuthServer, signInAt, startMcpOAuthServer } from "../support/mcp/mcp-oauth-server.ts";
import { fixture, loadingOf, resultsOf, runTurn, textOf, until, writeServers } from "../support/mcp/mcp-stage.ts";

const everything = fileURLToPath(
	new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

const mcpFile = (stage: Stage) => path.join(stage.shareDir, "mcp.json");
const entries = (stage: Stage): unknown => JSON.parse(readFileSync(mcpFile(stage), "utf8"));

describe("mcp add, list and remove", () => {
	// Bun ends with the signal.
	it.skipIf(process.platform !== "linux" || runsOnBun)("name the file that cannot be written", async () => {
		const stage = createStage();
		const script = 'ulimit -f 0; exec "$0" mcp add local -- a-server';
		const { workDir: cwd, environment: env } = stage;
		expect(await runExecutable("/bin/sh", ["-c", script, executablePath], { cwd, env })).toMatchObject({
			code: 1,
			stderr: `Error: EFBIG: file too large, write '${mcpFile(stage)}'\n`,
		});
	});

	it("edit mcp.json and report it", async () => {
		const stage = createStage();
		const file = mcpFile(stage);
		const mcp = (...argv: string[]) => stage.run("mcp", ...argv);
		const none = `MCP config file: ${file}\nNo MCP servers configured.\n`;
		expect(await mcp("list")).toEqual({ code: 0, stdout: none, stderr: "" });
		expect(existsSync(file)).toBe(false);

		expect(await mcp("add", "local", "-e", "KEY=a=b", "--", "npx", "-y", "a-server", "--help")).toEqual({
			code: 0,
			stdout: `Added MCP server 'local' to ${file}.\n`,
			stderr: "",
		});
		await mcp(
			"add",
			"--transport",
			"http",
			"remote",
			"https://mcp.example/mcp",
			"--header",
			"X-Key: abc",
			"-a",
			"oauth",
		);
		expect(readFileSync(file, "utf8")).toBe(`{
  "mcpServers": {
    "local": {
      "command": "npx",
      "args": [
        "-y",
        "a-server",
        "--help"
      ],
      "env": {
        "KEY": "a=b"
      }
    },
    "remote": {
      "url": "https://mcp.example/mcp",
      "transport": "http",
      "headers": {
        "X-Key": "abc"
      },
      "auth": "oauth"
    }
  }
}
`);
		const listed = await mcp("list");
		expect(listed).toMatchObject({ code: 0, stderr: "" });
		expect(listed.stdout).toBe(
			`MCP config file: ${file}\n  local (stdio): npx -y a-server --help\n` +
				"  remote (http): https://mcp.example/mcp [authorization required - run: agentwire mcp auth remote]\n",
		);
		expect(await mcp("remove", "local")).toEqual({
			code: 0,
			stdout: `Removed MCP server 'local' from ${file}.\n`,
			stderr: "",
		});
		expect(await mcp("remove", "remote")).toMatchObject({ code: 0 });
		expect(entries(stage)).toEqual({ mcpServers: {} });
	});

	it("do not change a file that is not JSON", async () => {
		const stage = createStage();
		writeFileSync(mcpFile(stage), '{\n  "mcpServers": {,}\n}');
		for (const argv of [
			["list"],
			["add", "x", "cmd"],
			["remove", "x"],
			["test", "x"],
			["auth", "x"],
			["reset-auth", "x"],
		]) {
			expect(await stage.run("mcp", ...argv)).toEqual({
				code: 1,
				stdout: "",
				stderr: expect.stringMatching(
					/^Error: .*mcp\.json is not JSON(?: at line 2, column 18)?: .*was not changed\.\n$/,
				),
			});
		}
		expect(readFileSync(mcpFile(stage), "utf8")).toBe('{\n  "mcpServers": {,}\n}');
	});

	it.each<[number, readonly string[], RegExp]>([
		[1, ["remove", "x"], /^Error: There is no MCP server 'x' in .*mcp\.json\./],
		[1, ["test", "x"], /^Error: There is no MCP server 'x'/],
		[1, ["auth", "x"], /^Error: There is no MCP server 'x'/],
		[1, ["add", "x"], /^Error: The command that starts the server is missing/],
		[1, ["add", "x", "-t", "http"], /^Error: The server's URL is missing/],
		[1, ["add", "x", "-t", "http", "ftp://a"], /^Error: The server's URL must begin with https/],
		[1, ["add", "x", "-e", "KEY", "cmd"], /^Error: --env takes KEY=VALUE/],
		[1, ["add", "x", "-H", "K:V", "cmd"], /^Error: --header works only with --transport http\.\n$/],
		[
			1,
			["add", "x", "-t", "http", "https://a", "-H", "A key:v"],
			/^Error: The server 'x' could not be used: headers has a name .* cannot have\.\n$/,
		],
		[1, ["add", "x", "-t", "sse", "https://a"], /^Error: --transport takes stdio or http, found 'sse'\.\n$/],
		[2, ["add"], /^Error: The command 'mcp add' needs NAME\./],
		[2, ["add", "x", "npx", "-y"], /does not know '-y'.* put '--' before that/],
		[2, ["test"], /needs NAME/],
		[2, ["frob"], /does not know 'frob'/],
		[2, [], /needs one of add, list, remove, auth, reset-auth, test/],
	])("fail with %i: %j", async (code, argv, said) => {
		const stage = createStage();
		expect(await stage.run("mcp", ...argv)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(said) });
		expect(existsSync(mcpFile(stage))).toBe(false);
	});
});

describe("mcp test", () => {
	it("shows the tools of a real server, and leaves nothing running", async () => {
		const stage = createStage();
		await stage.run("mcp", "add", "everything", "--", process.execPath, everything);
		const { code, stdout, stderr } = await stage.run("mcp", "test", "everything");
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		const [first, second, third, fourth, ...tools] = stdout.trimEnd().split("\n");
		expect([first, second]).toEqual(["Testing connection to 'everything'...", "✓ Connected to 'everything'"]);
		expect([third, fourth]).toEqual([`  Available tools: ${tools.length}`, "  Tools:"]);
		expect(tools).toContain("    - echo: Echoes back the input string");
		expect(tools.filter((line) => !/^ {4}- [\w-]+: .{1,47}(\.\.\.|.{0,3})$/u.test(line))).toEqual([]);
		expect(stage.commands()).toEqual([]);
	});

	it.each<[string, readonly string[], string]>([
		[
			"cannot be started",
			["/no/such/program"],
			runsOnBun
				? "Error: it could not be started: ENOENT: no such file or directory, posix_spawn '/no/such/program' (working directory SHARE)"
				: "Error: it could not be started: spawn /no/such/program ENOENT (working directory SHARE)",
		],
		["goes at once", ["sh", "-c", "echo no key >&2; exit 3"], "Error: it exited with code 3; its last output: no key"],
	])("says why when a server %s", async (_, command, reason) => {
		const stage = createStage();
		await stage.run("mcp", "add", "broken", "--", ...command);
		expect(await stage.run("mcp", "test", "broken")).toEqual({
			code: 1,
			stdout: "Testing connection to 'broken'...\n",
			stderr: `✗ Connection failed: ${reason.replace("SHARE", stage.shareDir)}\n`,
		});
	});

	it.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
		"leaves nothing running of a server that hangs when it ends by %s",
		async (signal) => {
			const stage = createStage();
			writeServers(stage, { stuck: fixture("grow", "hang") });
			const child = spawn(executablePath, ["mcp", "test", "stuck"], { env: stage.environment, cwd: stage.workDir });
			const said: Buffer[] = [];
			child.stderr.on("data", (bytes: Buffer) => said.push(bytes));
			const closed = new Promise((resolve) => child.once("close", (code) => resolve(code)));
			const running = (command: string) => stage.commands().some((other) => other.startsWith(command));
			await until(() => running("sleep 300"));
			child.kill(signal);
			expect(await closed).toBe(signal === "SIGKILL" ? null : 1);
			expect(String(Buffer.concat(said))).toBe(
				signal === "SIGKILL" ? "" : "✗ Connection failed: Interrupted: it was stopped\n",
			);
			await until(() => stage.commands().length === 0);
		},
	);
});

/** A stage with a server to sign in to, and a PATH on which the only opener of browsers is the test's, if any. */
async function createSignInStage(opener: string | null = null, options: AuthorizationServerOptions = {}) {
	const server = await startMcpOAuthServer(options);
	const stage = createStage();
	const binaries = path.join(stage.workDir, "bin");
	mkdirSync(binaries);
	symlinkSync(process.execPath, path.join(binaries, "node"));
	if (opener !== null) {
		for (const name of ["open", "xdg-open"]) {
			writeFileSync(path.join(binaries, name), `#!/bin/sh\n${opener}\n`);
			chmodSync(path.join(binaries, name), 0o755);
		}
	}
	const env = { ...stage.environment, PATH: opener === null ? binaries : `${binaries}:/usr/bin:/bin` };
	expect(await stage.run("mcp", "add", "-t", "http", "weather", server.url, "-a", "oauth")).toMatchObject({ code: 0 });
	const mcp = (...argv: string[]) => runExecutable(executablePath, ["mcp", ...argv], { cwd: stage.workDir, env });
	return { server, stage, mcp, auth: (...argv: string[]) => startAuth(env, ...argv) };
}

interface RunningAuth {
	/** The page that was printed. */
	readonly page: Promise<string>;
	readonly finished: Promise<Finished>;
	interrupt(): void;
}

function startAuth(env: Readonly<Record<string, string>>, name = "weather"): RunningAuth {
	const child = spawn(executablePath, ["mcp", "auth", name], { env, stdio: ["ignore", "pipe", "pipe"] });
	let stdout = "";
	let stderr = "";
	child.stderr.on("data", (bytes: Buffer) => {
		stderr += bytes.toString();
	});
	const lines = createInterface({ input: child.stdout });
	const page = new Promise<string>((resolve, reject) => {
		lines.on("line", (line) => {
			stdout += `${line}\n`;
			if (line.startsWith("http")) resolve(line);
		});
		child.once("close", () => reject(new Error(`It ended without a page: ${stdout}${stderr}`)));
	});
	page.catch(() => undefined);
	const finished = new Promise<Finished>((resolve) => {
		child.once("close", (code) => resolve({ code, stdout, stderr }));
	});
	return { page, finished, interrupt: () => void child.kill("SIGINT") };
}

const tokenFiles = (stage: Stage) => {
	const directory = path.join(stage.shareDir, "mcp-oauth");
	return existsSync(directory) ? readdirSync(directory).map((name) => path.join(directory, name)) : [];
};

async function signIn({ auth }: Awaited<ReturnType<typeof createSignInStage>>): Promise<Finished> {
	const running = auth();
	expect(await signInAt(await running.page)).toMatchObject({ status: 200 });
	return await running.finished;
}

const modeOf = (file: string) => statSync(file).mode & 0o777;
const outcomes = ({ grants }: McpOAuthServer) => grants.map(({ type, error }) => error ?? type);

describe("mcp auth, reset-auth and test", () => {
	it("sign in at the printed page, stay signed in, and forget it", async () => {
		const place = await createSignInStage();
		const { server, stage, mcp } = place;
		expect(await mcp("test", "weather")).toEqual({
			code: 1,
			stdout: "Testing connection to 'weather'...\n",
			stderr:
				"✗ Connection failed: UnauthorizedError: nobody has signed in. To sign in, run: agentwire mcp auth weather\n",
		});
		const { code, stdout, stderr } = await signIn(place);
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		expect(stdout.replace(/http.*/, "PAGE")).toBe(
			"Signing in to 'weather'...\nOpen this page to sign in:\nPAGE\nSuccessfully authorized with 'weather'.\nAvailable tools: 2\n",
		);
		const [file = ""] = tokenFiles(stage);
		expect(tokenFiles(stage)).toEqual([file]);
		expect([modeOf(path.dirname(file)), modeOf(file)]).toEqual([0o700, 0o600]);
		expect((await mcp("list")).stdout).toContain(`  weather (http): ${server.url}\n`);
		const tested = { code: 0, stderr: "", stdout: expect.stringContaining("    - forecast: Tells the weather.\n") };
		expect(await mcp("test", "weather")).toEqual(tested);

		server.expireTokens();
		expect(await mcp("test", "weather")).toEqual(tested);
		server.expireTokens();
		// Signed in already: nobody is asked again.
		expect(await mcp("auth", "weather")).toMatchObject({
			code: 0,
			stdout: "Signing in to 'weather'...\nSuccessfully authorized with 'weather'.\nAvailable tools: 2\n",
		});
		expect(outcomes(server)).toEqual(["authorization_code", "refresh_token", "refresh_token"]);

		expect(await mcp("reset-auth", "weather")).toEqual({
			code: 0,
			stdout: "OAuth tokens cleared for 'weather'.\n",
			stderr: "",
		});
		expect(tokenFiles(stage)).toEqual([]);
		expect(await mcp("reset-auth", "weather")).toMatchObject({ code: 0 });
		expect(await mcp("test", "weather")).toMatchObject({ code: 1 });
	});

	it("open the page in a browser that outlives the command", async () => {
		const { stage, auth } = await createSignInStage('echo "$1" > "$KIMI_SHARE_DIR/opened"; exec sleep 30');
		const running = auth();
		const page = await running.page;
		await signInAt(page);
		const { code, stdout } = await running.finished;
		expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("A browser should open.") });
		expect(readFileSync(path.join(stage.shareDir, "opened"), "utf8")).toBe(`${page}\n`);
		expect(stage.commands()).toEqual(["sleep 30"]);
	});

	it("change nothing when permission is refused or the wait is stopped", async () => {
		const place = await createSignInStage();
		const { server, stage, auth } = place;
		await signIn(place);
		const persisted = () => tokenFiles(stage).map((file) => readFileSync(file, "utf8"));
		const before = persisted();
		server.revokeAll();
		server.conduct.denies = true;
		const denied = auth();
		expect((await signInAt(await denied.page)).page).toContain("Permission was not given.");
		expect(await denied.finished).toMatchObject({
			code: 1,
			stderr: "Error: Signing in to 'weather' failed: permission was not given.\n",
		});
		const stopped = auth();
		await stopped.page;
		stopped.interrupt();
		expect(await stopped.finished).toMatchObject({
			code: 1,
			stderr: "Error: Signing in to 'weather' failed: it was interrupted.\n",
		});
		expect(persisted()).toEqual(before);
	});

	it("accept no answer to another sign-in", async () => {
		const { auth } = await createSignInStage();
		const running = auth();
		const page = new URL(await running.page);
		const forged = new URL(page.searchParams.get("redirect_uri") ?? "");
		forged.search = "?code=forged&state=forged";
		expect(await signInAt(forged)).toMatchObject({ status: 400 });
		expect(await signInAt(page)).toMatchObject({ status: 200 });
		expect(await running.finished).toMatchObject({ code: 0 });
	});

	it("renew once when several processes need it at the same time", async () => {
		const place = await createSignInStage();
		const { server, mcp } = place;
		await signIn(place);
		server.expireTokens();
		const results = await Promise.all(Array.from({ length: 4 }, () => mcp("test", "weather")));
		expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
		expect(outcomes(server)).toEqual(["authorization_code", "refresh_token"]);
	});

	it.each<[string, readonly string[], string]>([
		["a program", ["cmd"], "Error: The MCP server 'x' is a local program and needs no sign-in.\n"],
		["without OAuth", ["-t", "http", "https://a"], "Error: The MCP server 'x' was not added with --auth oauth.\n"],
	])("refuse a server that is %s", async (_, target, stderr) => {
		const stage = createStage();
		await stage.run("mcp", "add", "x", ...target);
		for (const action of ["auth", "reset-auth"]) {
			expect(await stage.run("mcp", action, "x")).toEqual({ code: 1, stdout: "", stderr });
		}
	});
});

describe("a session with a server to sign in to", () => {
	const call = (id: string) => [toolCall(id, "forecast", {}), "text: done"];

	it("leaves it out while nobody has signed in, and uses and renews the sign-in that is there", async () => {
		const place = await createSignInStage();
		const { server, stage } = place;
		stage.setScripts(call("c0"));
		const before = await runTurn(stage.serve("--yolo"));
		expect(loadingOf(before)).toContain("loaded, weather unauthorized");
		expect(resultsOf(before)["c0"]).toMatchObject({ message: "Tool `forecast` not found" });

		await signIn(place);
		stage.setScripts([...call("c1"), ...call("c2"), ...call("c3")]);
		const session = stage.serve("--yolo");
		const first = await runTurn(session);
		expect(loadingOf(first)).toContain("loaded, weather connected");
		expect(textOf(resultsOf(first)["c1"])).toBe("Sunny.");
		server.expireTokens();
		expect(textOf(resultsOf(await runTurn(session, "second"))["c2"])).toBe("Sunny.");
		expect(outcomes(server)).toEqual(["authorization_code", "refresh_token"]);
		server.revokeAll();
		expect(resultsOf(await runTurn(session, "third"))["c3"]).toMatchObject({
			is_error: true,
			message: "Error running tool: MCP server weather: it rejected the sign-in.",
		});
	});

	it("says which permission it lacks, and has it once somebody has signed in again", async () => {
		const place = await createSignInStage(null, { furtherScope: "weather:history" });
		const { server, stage } = place;
		await signIn(place);
		stage.setScripts(["c1", "c2"].flatMap((id) => [toolCall(id, "history", {}), "text: done"]));
		const session = stage.serve("--yolo");
		expect(resultsOf(await runTurn(session))["c1"]).toMatchObject({
			is_error: true,
			message:
				"Error running tool: MCP server weather: the sign-in lacks a permission for that (weather:history), for which a person has to sign in to it again.",
		});
		expect(await signIn(place)).toMatchObject({ code: 0, stderr: "" });
		expect(textOf(resultsOf(await runTurn(session, "second"))["c2"])).toBe("Sunny.");
		expect(outcomes(server)).toEqual(["authorization_code", "authorization_code"]);
	});
});
