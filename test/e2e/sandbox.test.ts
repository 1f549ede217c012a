// Commands in the sandbox and rules over them, over the real executable.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { hasSandbox } from "../support/executable/bubblewrap.ts";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse, type Server, type ServerLine } from "../support/executable/running-server.ts";

const shell = (command: string, more: object = {}) => toolCall("c1", "Shell", { command, ...more });

function addSettings(stage: Stage, text: string): void {
	appendFileSync(path.join(stage.shareDir, "config.toml"), `\n${text}\n`);
}

/** Neither in the work directory nor for temporary files. */
const outside = "/usr/agentwire-outside";

const sandbox = (more = "") => `[sandbox]\nmode = "workspace-write"\n${more}`;

async function turn(server: Server): Promise<readonly ServerLine[]> {
	server.prompt("go", "p");
	const lines = await server.readUntil((line) => isResponse(line, "p") || line.params?.type === "ApprovalRequest");
	server.endInput();
	await server.exited;
	return lines;
}

const payloads = (lines: readonly ServerLine[], type: string) =>
	lines.flatMap(({ params }) => (params?.type === type ? [params.payload] : []));

async function resultOf(stage: Stage, ...flags: string[]) {
	const [result] = payloads(await turn(stage.serve("--wire", ...flags)), "ToolResult");
	return (result as { return_value: { is_error: boolean; output: string; message: string } }).return_value;
}

describe.skipIf(!hasSandbox())("a command in the sandbox", () => {
	it("writes in the work directory and nowhere else, and the model reads why", async () => {
		const command = `touch inside && touch ${outside}`;
		const stage = createStage({ scripts: [shell(command), "text: done"] });
		addSettings(stage, sandbox());
		const result = await resultOf(stage, "--yolo");
		expect(result.is_error).toBe(true);
		expect(result.output).toContain("Read-only file system");
		expect(result.message).toContain("The sandbox lets the command write only below ");
		expect(existsSync(path.join(stage.workDir, "inside"))).toBe(true);
	});

	it("neither reads the share directory nor reaches the network", async () => {
		const command = 'ls -A "$KIMI_SHARE_DIR"; cat "$KIMI_SHARE_DIR/config.toml"; grep -o "[a-z0-9]*:" /proc/net/dev';
		const stage = createStage({ scripts: [shell(command), "text: done"] });
		addSettings(stage, sandbox());
		const { output } = await resultOf(stage, "--yolo");
		expect(output).not.toContain("default_model");
		expect(output).not.toContain("sessions\n");
		// What the command says on its two streams comes in any order.
		expect(output.split("\n").filter((line) => /^[a-z0-9]+:$/.test(line))).toEqual(["lo:"]);
	});

	it("cannot plant a hook of the repository", async () => {
		const command = "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo over";
		const stage = createStage({ scripts: [shell(command), "text: done"] });
		addSettings(stage, sandbox());
		expect((await resultOf(stage, "--yolo")).output).toContain("over");
		expect(existsSync(path.join(stage.workDir, ".git", "hooks", "pre-commit"))).toBe(false);
	});

	it("cannot have git do outside of the sandbox what it planted, when a subagent begins with the state of the repository", async () => {
		const stage = createStage({
			scripts: [
				shell("sh plant"),
				toolCall("c2", "Agent", { description: "look", prompt: "Look.", subagent_type: "explore" }),
				`text: ${"I have looked. ".repeat(30)}`,
				"text: done",
			],
		});
		const planted = path.join(stage.shareDir, "planted");
		// What git takes for a repository without a `.git`, and for its settings.
		const settings = `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = "touch ${planted}; false"`;
		const plant = `mkdir objects refs; echo "ref: refs/heads/main" > HEAD; cat > config <<'END'\n${settings}\nEND\n`;
		writeFileSync(path.join(stage.workDir, "plant"), plant);
		addSettings(stage, sandbox());
		const lines = await turn(stage.serve("--wire", "--yolo"));
		expect(payloads(lines, "ToolResult")).toHaveLength(2);
		expect(existsSync(path.join(stage.workDir, "config"))).toBe(true);
		expect(existsSync(planted)).toBe(false);
	});

	it("in the background is confined as well", async () => {
		const command = `touch ${outside}; touch inside; sleep 0.1`;
		const background = shell(command, { run_in_background: true, description: "the job", timeout: 60 });
		const wait = toolCall("c2", "Shell", { command: "until [ -e inside ]; do sleep 0.02; done; sleep 0.2" });
		const stage = createStage({ scripts: [background, wait, "text: done"] });
		addSettings(stage, sandbox());
		await turn(stage.serve("--wire", "--yolo"));
		expect(existsSync(path.join(stage.workDir, "inside"))).toBe(true);
		expect(existsSync(outside)).toBe(false);
	});

	it("in the background reaches the proxy when the server is gone", async () => {
		const ask =
			"exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://a.example/ HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3 > answer";
		const command = `touch ready; until [ -e gone ]; do sleep 0.02; done; bash -c "${ask}"; mv answer answered`;
		const background = shell(command, { run_in_background: true, description: "the job", timeout: 60 });
		const wait = toolCall("c2", "Shell", { command: "until [ -e ready ]; do sleep 0.02; done" });
		const stage = createStage({ scripts: [background, wait, "text: done"] });
		addSettings(stage, `[background]\nkeep_alive_on_exit = true\n${sandbox('network = "proxy"\n')}`);
		await turn(stage.serve("--wire", "--yolo"));
		writeFileSync(path.join(stage.workDir, "gone"), "");
		const answered = path.join(stage.workDir, "answered");
		await expect.poll(() => existsSync(answered), { timeout: 10_000 }).toBe(true);
		expect(readFileSync(answered, "utf8")).toMatch(/^HTTP\/1\.1 403 /);
		await expect.poll(() => readdirSync(path.join(stage.shareDir, "proxies")), { timeout: 10_000 }).toEqual([]);
	});

	it("runs unasked with auto_allow, but leaves the sandbox only after an approval of its own", async () => {
		const stage = createStage({ scripts: [shell("echo free"), "text: done"] });
		addSettings(stage, sandbox("auto_allow = true\n"));
		const free = await turn(stage.serve("--wire"));
		expect(payloads(free, "ApprovalRequest")).toEqual([]);
		expect(payloads(free, "ToolResult")).toMatchObject([{ return_value: { is_error: false, output: "free\n" } }]);

		const outer = createStage({ scripts: [shell("echo free", { outside_sandbox: true }), "text: done"] });
		addSettings(outer, sandbox("auto_allow = true\n"));
		expect(payloads(await turn(outer.serve("--wire")), "ApprovalRequest")).toMatchObject([
			{
				action: "run command outside of the sandbox",
				description: "Run command `echo free` outside of the sandbox",
			},
		]);
	});

	it("that would leave the sandbox is rejected while nobody is there", async () => {
		const stage = createStage({ scripts: [shell("echo free", { outside_sandbox: true }), "text: done"] });
		addSettings(stage, sandbox());
		expect(await resultOf(stage, "--afk")).toMatchObject({
			is_error: true,
			message: "The command would run outside of the sandbox. Nobody is at the keyboard to approve it (afk).",
		});
	});
});

describe("the environment of a command", () => {
	it("has no keys of model providers, and what the settings set", async () => {
		const stage = createStage({ scripts: [shell("env"), "text: done"] });
		addSettings(stage, '[sandbox.env]\nset = { COLOR = "red" }\ndrop = ["SECRET_*"]\n');
		const variables = { ANTHROPIC_API_KEY: "k1", SECRET_THING: "k2", PLAIN: "p" };
		const lines = await turn(stage.serveWith(variables, "--wire", "--yolo"));
		const [result] = payloads(lines, "ToolResult");
		const { output } = (result as { return_value: { output: string } }).return_value;
		expect(output).toContain("COLOR=red\n");
		expect(output).toContain("PLAIN=p\n");
		expect(output).not.toContain("ANTHROPIC_API_KEY");
		expect(output).not.toContain("SECRET_THING");
	});
});

describe("rules of the settings", () => {
	it("allow and deny commands, under yolo as well", async () => {
		const rules =
			'[[permission.rules]]\ndecision = "allow"\npattern = "Bash(echo:*)"\n[[permission.rules]]\ndecision = "deny"\npattern = "Bash(rm:*)"\nreason = "Use the trash."\n';
		const stage = createStage({ scripts: [shell("echo free"), "text: done"] });
		addSettings(stage, rules);
		expect(await resultOf(stage)).toMatchObject({ is_error: false, output: "free\n" });
		const denied = createStage({ scripts: [shell("echo x; sudo rm -rf y"), "text: done"] });
		addSettings(denied, rules);
		expect(await resultOf(denied, "--yolo")).toMatchObject({
			is_error: true,
			message: expect.stringMatching(
				/The user rule `Bash\(rm:\*\)` \(.*config\.toml, line \d+\) denies `sudo rm -rf y`: Use the trash\.$/,
			),
		});
	});

	it("that are unsound keep the server from starting, with file and line", async () => {
		const stage = createStage({ scripts: ["text: done"] });
		addSettings(stage, '[[permission.rules]]\ndecision = "allow"\npattern = "Bash(rm*)"\n');
		const { code, stderr } = await stage.run("--wire");
		expect(code).not.toBe(0);
		expect(stderr).toMatch(/config\.toml:\n {2}permission\.rules\[0\]\.pattern: line \d+: "Bash\(rm\*\)": .*rm:\*/);
	});

	it("of a project that are unsound are an error of its sessions", async () => {
		const stage = createStage({ scripts: ["text: done"] });
		mkdirSync(path.join(stage.workDir, ".agentwire"), { recursive: true });
		writeFileSync(path.join(stage.workDir, ".agentwire", "permissions.toml"), "= 1");
		const { code, stderr } = await stage.run("--wire");
		expect(code).not.toBe(0);
		expect(stderr).toContain(path.join(stage.workDir, ".agentwire", "permissions.toml"));
	});
});
