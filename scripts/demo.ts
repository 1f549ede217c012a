// A tour of agentwire in one minute: an agent fixes a failing test, requests approvals, and is replayed from disk.
// Run with `npm run demo`; `--yes` approves everything, `--keep` leaves the files, `--web` opens it in a browser.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { constants, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Approval, connect, type Turn } from "../src/client/client.ts";
import { askDecision } from "./demo/approval-prompt.ts";
import { createConversationView } from "./demo/conversation-view.ts";
import { childEnvironment, chooseModel, type ModelChoice, promptText } from "./demo/model-choice.ts";
import { commitProject, doesTestPass, showChange, writeProject } from "./demo/project.ts";
import { findSession, showSession } from "./demo/session-view.ts";
import { createTerminal } from "./demo/terminal.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const executable = path.join(root, "bin", "agentwire");

const given = process.argv.slice(2);
const unknown = given.filter((word) => !["--yes", "--keep", "--web"].includes(word));
if (unknown.length > 0) {
	console.error(`Unknown: ${unknown.join(" ")}\nUsage: npm run demo -- [--yes] [--keep] [--web]`);
	process.exit(2);
}
if (!existsSync(path.join(root, "dist", "main.cjs"))) {
	console.error("The executable is not built yet. Build it with: npm run prepare");
	process.exit(2);
}
const approvesAll = given.includes("--yes");
const keepsFiles = given.includes("--keep");

const isTerminal = process.stdout.isTTY === true;
const terminal = createTerminal((text) => void process.stdout.write(text), {
	useColor: isTerminal && !process.env["NO_COLOR"],
	isAttended: isTerminal && process.stdin.isTTY === true,
});

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "agentwire-demo-")));
const projectDir = path.join(folder, "basket");
const shareDir = path.join(folder, "share");
const configPath = path.join(folder, "config.json");
const scriptsPath = path.join(folder, "scripts.json");
// Nothing is left outside the folder: sessions and compiled code go there too.
const environment: NodeJS.ProcessEnv = {
	...childEnvironment(process.env),
	KIMI_SHARE_DIR: shareDir,
	XDG_CACHE_HOME: path.join(folder, "cache"),
};
const kernels: { close(): Promise<void> }[] = [];

function cleanUp(): void {
	// It may hold a key.
	rmSync(configPath, { force: true });
	if (!keepsFiles) rmSync(folder, { recursive: true, force: true });
}

// Whatever ends the demo, a fault of its own included.
process.once("exit", cleanUp);

// SIGHUP: the terminal was closed, so nobody can read a message.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
	process.once(signal, async () => {
		if (signal !== "SIGHUP") {
			process.stdout.write("\n\n");
			terminal.line("", "Interrupted: the agent is stopped.", "yellow");
		}
		await Promise.all(kernels.map((kernel) => kernel.close()));
		process.exit(128 + constants.signals[signal]);
	});
}
// A terminal that was closed fails every read and write.
for (const stream of [process.stdin, process.stdout]) stream.on("error", () => {});

/** Starts agentwire as a client does that was installed: the library runs the executable and speaks over its pipes. */
async function start() {
	const kernel = await connect({ command: executable, args: ["--config-file", configPath], env: environment });
	kernels.push(kernel);
	return kernel;
}

function introduce(choice: ModelChoice, server: string): void {
	terminal.heading("agentwire demo");
	writeProject(projectDir);
	const hasGit = commitProject(projectDir, environment);
	writeFileSync(configPath, choice.configuration, { mode: 0o600 });
	if (choice.scripts !== null) writeFileSync(scriptsPath, choice.scripts);
	terminal.line("project", `${projectDir}${hasGit ? " (git, one commit)" : ""}`);
	if (!hasGit) terminal.line("", "git is not usable here; the project goes without.", "dim");
	terminal.line("model", choice.description);
	terminal.line("process", server);
}

/** Runs one prompt to its end. Resolves to the id of the session and the number of events received. */
async function converse(choice: ModelChoice): Promise<{ readonly id: string; readonly received: number }> {
	terminal.heading("1  The agent at work");
	const kernel = await start();
	const { name, version } = await kernel.info();
	terminal.line("hello", `connect() → ${name} ${version}`);
	terminal.paragraph("you", promptText, "bold");
	let received = 0;
	const onEvent = () => {
		received += 1;
	};
	const session = await kernel.open({ workDir: projectDir, onEvent });
	const turn = session.prompt(promptText);
	const show = createConversationView(terminal, projectDir);
	for await (const event of turn) {
		show(event);
		if (event.type === "approval" && !(await decide(event.ask, turn, choice))) break;
	}
	const { outcome } = await turn;
	terminal.blank();
	terminal.line("end", `prompt() → ${outcome}, ${received} events streamed`);
	await kernel.close();
	return { id: session.id, received };
}

/** Asks, and answers. Resolves to whether to go on. */
async function decide(ask: Approval, turn: Turn, choice: ModelChoice): Promise<boolean> {
	const decision = await askDecision(terminal, approvesAll);
	if (decision.allow === "once") await ask.once();
	else if (decision.allow === "session") await ask.forSession();
	else {
		await ask.reject(decision.feedback);
		terminal.line("", "Rejected: the call is not run.", "red");
		if (decision.feedback === "" || !choice.isScripted) return true;
		// The next answer of the script would ignore the feedback.
		terminal.paragraph("", "A real model would now act on your feedback. A script cannot, so the turn is cancelled.");
		await turn.cancel();
		return false;
	}
	return true;
}

/** Starts a second process and reads the session from its beginning. */
async function replay(id: string): Promise<void> {
	const types = new Map<string, number>();
	const kernel = await start();
	const session = await kernel.open({ id });
	for await (const { type } of session.history()) types.set(type, (types.get(type) ?? 0) + 1);
	terminal.paragraph("events", [...types].map(([type, count]) => `${count} × ${type}`).join(", "));
	await kernel.close();
}

async function run(): Promise<boolean> {
	const choice = chooseModel(process.env, scriptsPath);
	introduce(choice, "bin/agentwire serve --stdio, started by the client library");
	const { id, received } = await converse(choice);

	terminal.heading("2  What is on disk");
	const directory = findSession(shareDir, id);
	if (directory === null) throw new Error("The session is not on disk.");
	terminal.line("session", path.basename(directory));
	terminal.line("in", path.relative(folder, path.dirname(directory)), "dim");
	showSession(terminal, directory);

	terminal.heading("3  The session again, in a second process");
	terminal.paragraph(
		"",
		`The stored events are read. Consecutive deltas among the ${received} events above are stored merged.`,
	);
	await replay(id);

	terminal.heading("4  Does the test pass now?");
	const change = showChange(projectDir, environment);
	if (change !== null) for (const line of change.split("\n")) terminal.line("", line.trim(), "dim");
	const passes = doesTestPass(projectDir, environment);
	if (passes) terminal.line("yes", "The demo ran the test itself: it passes.", "green");
	else terminal.line("no", "The demo ran the test itself: it fails.", "red");
	terminal.blank();
	if (choice.isScripted) {
		terminal.paragraph(
			"next",
			"With a real model: set AGENTWIRE_DEMO_BASE_URL, AGENTWIRE_DEMO_API_KEY and AGENTWIRE_DEMO_MODEL to any OpenAI-compatible endpoint and run the demo again.",
		);
	}
	terminal.paragraph(
		choice.isScripted ? "" : "next",
		"For your own program: docs/guides/embed-typescript.md. This demo is one: scripts/demo.ts.",
	);
	if (keepsFiles) terminal.line("files", folder);
	return passes;
}

/** Where the page of a demo is, so that one which is open finds the next demo and says that it needs its address. */
const usualPort = 7421;

async function isFree(port: number): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(port, "127.0.0.1");
		await once(server, "listening");
		return true;
	} catch {
		return false;
	} finally {
		server.close();
	}
}

/** Serves the page on the project until it is interrupted. */
async function serveWeb(): Promise<boolean> {
	introduce(chooseModel(process.env, scriptsPath), "bin/agentwire web, over HTTP for the page");
	terminal.paragraph("ask", promptText, "bold");
	const port = (await isFree(usualPort)) ? usualPort : 0;
	const words = ["web", "--port", String(port), "--work-dir", projectDir, "--config-file", configPath];
	if (approvesAll) words.push("--yolo");
	const server = spawn(executable, words, { env: environment, stdio: ["ignore", "inherit", "inherit"] });
	const exited = once(server, "exit");
	kernels.push({
		async close() {
			server.kill();
			await exited;
		},
	});
	const [code] = await exited;
	return code === 0;
}

try {
	process.exitCode = (await (given.includes("--web") ? serveWeb() : run())) ? 0 : 1;
} catch (thrown) {
	terminal.blank();
	terminal.paragraph("stopped", thrown instanceof Error ? thrown.message : String(thrown), "red");
	process.exitCode = 1;
} finally {
	await Promise.all(kernels.map((kernel) => kernel.close()));
}
