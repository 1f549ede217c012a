// The rewind campaign: kills the built executable in the middle of a command, or of a restore, and looks at what the next
// process makes of the files: as they were before the turn, or, for a restore, before or after it, and nothing in between.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type Kernel, PeerGone, type Session } from "../../../src/client/client.ts";
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { builtExecutable } from "../frame/executable.ts";
import { createRandom, type Random } from "../random.ts";

const fileCount = 60;
/** Rounds in one directory. */
const roundsOfStage = 25;

interface Stage {
	readonly root: string;
	readonly workDir: string;
	sessionId: string | null;
}

function createStage(isRepository: boolean): Stage {
	const root = realpathSync(mkdtempSync(path.join(tmpdir(), "agentwire-rewind-")));
	const workDir = path.join(root, "work");
	mkdirSync(path.join(root, "share"));
	for (let n = 0; n < fileCount; n += 1) {
		const directory = path.join(workDir, `d${n % 7}`);
		mkdirSync(directory, { recursive: true });
		writeFileSync(path.join(directory, `f${n}`), `${n}\n`.repeat(n * 20 + 1));
	}
	if (isRepository) {
		const commit = "git init -q && git add -A && git -c user.name=n -c user.email=e@example commit -qm first";
		execFileSync("sh", ["-c", commit], { cwd: workDir });
	}
	return { root, workDir, sessionId: null };
}

/** All that is in the work directory: bytes, links, modes. */
function picture({ workDir }: Stage): string {
	const script =
		"find . -name .git -prune -o -printf '%y %m %p %l\\n' | sort; find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 -r sha256sum";
	return execFileSync("bash", ["-c", script], { cwd: workDir, encoding: "utf8" });
}

/** A command that changes many files, one after the other. */
function createCommand(random: Random, round: number): string {
	const lines: string[] = [];
	for (let n = 0; n < fileCount; n += 1) {
		const file = `d${n % 7}/f${n}`;
		lines.push(
			random.pick([
				`echo ${round} > ${file}`,
				`rm -f ${file}`,
				`mkdir -p n${round}/x; echo ${round} > n${round}/x/${n}`,
				`rm -f ${file}; ln -s nowhere ${file}`,
				`[ -f ${file} ] && chmod 75${random.below(6)} ${file}`,
				`echo ${round} >> new${random.below(9)}`,
				"true",
			]),
		);
	}
	return `set +e\n${lines.join("\n")}\ntrue`;
}

function writeSettings({ root }: Stage, command: string): void {
	const scripts = path.join(root, "scripts.json");
	const call = { id: "call", name: "Shell", arguments: JSON.stringify({ command }) };
	writeFileSync(scripts, JSON.stringify([`tool_call: ${JSON.stringify(call)}`, "text: done"]));
	writeFileSync(
		path.join(root, "share/config.toml"),
		[
			'default_model = "m"',
			'[models.m]\nprovider = "p"\nmodel = "scripted_echo"\nmax_context_size = 100000',
			'[providers.p]\ntype = "_scripted_echo"\nbase_url = ""\napi_key = ""',
			`env = { KIMI_SCRIPTED_ECHO_SCRIPTS = ${JSON.stringify(scripts)} }`,
		].join("\n"),
	);
}

interface Running {
	readonly kernel: Kernel;
	readonly session: Session;
	kill(): void;
}

async function start(stage: Stage): Promise<Running> {
	const { root, workDir } = stage;
	let stderr = "";
	const kernel = await connect({
		command: ["/bin/sh", "-c", 'echo "$$" >&2; exec "$@"', "sh", builtExecutable],
		env: { PATH: process.env["PATH"] ?? "", HOME: root, KIMI_SHARE_DIR: path.join(root, "share") },
		cwd: workDir,
		onStderr: (text) => {
			stderr += text;
		},
	});
	const chosen = stage.sessionId === null ? { workDir } : { id: stage.sessionId };
	const session = await kernel.open({ ...chosen, approve: (ask) => ask.once() });
	stage.sessionId = session.id;
	return { kernel, session, kill: () => process.kill(Number.parseInt(stderr, 10), "SIGKILL") };
}

async function ignoringGone(work: PromiseLike<unknown>): Promise<void> {
	try {
		await work;
	} catch (thrown) {
		if (!(thrown instanceof PeerGone)) throw thrown;
	}
}

async function lastTurn(session: Session): Promise<string | null> {
	let last: string | null = null;
	for await (const event of session.history()) if (event.type === "turn.started") last = event.turnId;
	return last;
}

/** What is wrong after a kill in a command; null when everything is as before, or what is not is named. */
async function killInCommand(stage: Stage, random: Random, counts: Counts): Promise<string | null> {
	const before = picture(stage);
	const first = await start(stage);
	const former = await lastTurn(first.session);
	const turn = first.session.prompt("Go");
	const ended = ignoringGone(turn);
	await Promise.race([ended, delay(random.below(400))]);
	first.kill();
	await ended;
	await first.kernel.close();
	const { kernel, session } = await start(stage);
	try {
		const id = await lastTurn(session);
		if (id === null || id === former) return picture(stage) === before ? null : "files changed without a turn";
		const { plan, files } = await session.rewind({ before: id, conversation: false, conflicts: "take" });
		if (picture(stage) === before) {
			counts.restored += 1;
			return null;
		}
		counts.named += 1;
		const named = [...(plan?.reasons ?? []), ...(files?.left ?? [])];
		return named.length > 0 ? null : "files are not as before, and nothing says so";
	} finally {
		await kernel.close();
	}
}

/** What is wrong after a kill in a restore. */
async function killInRestore(stage: Stage, random: Random, counts: Counts): Promise<string | null> {
	const before = picture(stage);
	const first = await start(stage);
	const { turnId } = await first.session.prompt("Go");
	const after = picture(stage);
	const restoring = ignoringGone(
		first.session.rewind({ before: turnId ?? "", conversation: false, conflicts: "take" }),
	);
	await Promise.race([restoring, delay(random.below(350))]);
	first.kill();
	await restoring;
	await first.kernel.close();
	const { kernel, session } = await start(stage);
	try {
		await session.changes();
		const now = picture(stage);
		if (now === before) counts.finished += 1;
		else if (now === after) counts.unbegun += 1;
		return now === before || now === after ? null : "half of a restore is there";
	} finally {
		await kernel.close();
	}
}

interface Counts {
	restored: number;
	named: number;
	finished: number;
	unbegun: number;
}

export async function runCampaign({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	const startedAt = performance.now();
	const random = createRandom(seed);
	const findings: string[] = [];
	const counts: Counts = { restored: 0, named: 0, finished: 0, unbegun: 0 };
	let stage = createStage(true);
	for (let round = 0; round < rounds; round += 1) {
		if (round > 0 && round % roundsOfStage === 0) {
			rmSync(stage.root, { recursive: true, force: true });
			stage = createStage(random.chance(50));
		}
		writeSettings(stage, createCommand(random, round));
		const isCommand = random.chance(50);
		const wrong = await (isCommand ? killInCommand : killInRestore)(stage, random, counts);
		if (wrong !== null) findings.push(`round ${round}, ${isCommand ? "command" : "restore"}: ${wrong}`);
		if (round % 10 === 9) log(`${round + 1} rounds, ${findings.length} findings`);
	}
	if (findings.length === 0) rmSync(stage.root, { recursive: true, force: true });
	const seconds = (performance.now() - startedAt) / 1000;
	return { kind: "rewind", rounds, seed, seconds, findings, figures: { ...counts } };
}
