// One round of the wedge campaign: a process of its own, the hostile thing while the heart beats, and what was measured.
import { setTimeout as delay } from "node:timers/promises";
import { isRecord } from "../../../src/base/json.ts";
import { createRandom } from "../random.ts";
import type { Case, Fields, Scene, World } from "./case.ts";
import type { Beats } from "./heart.ts";
import { brief, Life } from "./life.ts";
import { type Loopback, say, startLoopback } from "./loopback.ts";
import { createStage } from "./stage.ts";

export interface Measured {
	/** Whether the start of the program was what was tried. */
	readonly isStart: boolean;
	/** Milliseconds from the start to the first line, or to the end of a process that does not begin. */
	readonly begun: number;
	readonly beats: Beats;
	/** Bytes. */
	readonly peak: number;
	/** Milliseconds from the end of the input to the end of the process; null when it went before. */
	readonly end: number | null;
	readonly exitCode: number | null;
	readonly outcome: string;
	/** What is wrong, whatever the limits are. */
	readonly complaints: readonly string[];
}

export interface RoundOptions {
	readonly size: number;
	readonly seed: number;
	readonly cacheDir: string;
}

/** Milliseconds that a request may take. */
const usualPatience = 10_000;
/** Milliseconds of heartbeat before and after. */
const quiet = 120;

export async function playRound(tried: Case, { size, seed, cacheDir }: RoundOptions): Promise<Measured> {
	const stage = createStage();
	const loopback = await startLoopback();
	let life: Life | null = null;
	try {
		const world: World = { stage, loopback, random: createRandom(seed), size };
		const scene = await tried.set(world);
		loopback.queue(scene.answers ?? []);
		const configFile =
			scene.configFile ?? stage.writeShared("settings.json", JSON.stringify(settingsFor(loopback, scene)));
		const patience = tried.patience ?? usualPatience;
		life = new Life({ stage, scene, loopback, configFile, cacheDir, patience });
		return await live(life, scene, loopback, patience);
	} finally {
		if (life !== null && !life.isGone) await life.end();
		await loopback.close();
		stage.clear();
	}
}

async function live(life: Life, scene: Scene, loopback: Loopback, patience: number): Promise<Measured> {
	const { heart, complaints, outcome } = life;
	let peak = 0;
	const calm = life.dialect === "rpc" ? "session/create" : "initialize";
	const calmParams =
		life.dialect === "rpc"
			? { prompt: "", initial_turn: "deferred", model: "calm" }
			: {
					protocol_version: "1.10",
					capabilities: { supports_question: true, supports_plan_mode: true },
					...scene.initialize,
				};
	if (life.dialect === "rpc" && scene.isStart !== true) await life.ask("initialize", rpcHandshake(scene));
	const first = await life.ask(calm, calmParams);
	// What has not begun by now may never do.
	const begun = first === null && !life.isGone ? patience : await life.begun;
	const isUp = first?.result !== undefined && !life.isGone;
	if (isUp) {
		outcome.splice(0);
		if (isRecord(first.result)) life.calmSession = String(first.result["session_id"] ?? "");
		heart.start();
		await delay(quiet);
		scene.place?.();
		await act(life, scene, patience);
		await delay(quiet);
		peak = life.peak();
		await checkCalm(life, loopback);
		peak = Math.max(peak, life.peak());
	}
	const beats = heart.stop();
	const wentBefore = life.isGone;
	const ended = await life.end();
	const { code, signal } = await life.gone;
	const isStart = scene.isStart === true;
	if (signal !== null) complaints.push(`the process was ended by ${signal}`);
	if (wentBefore) outcome.push(`exit ${code}: ${brief(life.stderr)}`);
	if (wentBefore && !isStart) complaints.push(`the process went with code ${code}: ${brief(life.stderr)}`);
	if (/Uncaught|unhandled|FATAL ERROR|^\s+at .+:\d+:\d+\)?$/m.test(life.stderr)) {
		complaints.push(`stderr has a crash: ${brief(life.stderr)}`);
	}
	const end = wentBefore ? null : ended;
	return { isStart, begun, beats, peak, end, exitCode: code, outcome: outcome.join(" | "), complaints };
}

function rpcHandshake({ initialize = {} }: Scene): Fields {
	return { requests: ["approval/request", "question/request"], ...initialize };
}

async function act(life: Life, scene: Scene, patience: number): Promise<void> {
	if (scene.act !== undefined) {
		await scene.act(life);
		return;
	}
	const prompt = scene.prompt ?? "go";
	if (scene.declared !== undefined) {
		// As text: what it is made of may be too deep to be written by the usual means.
		const declare = `{"jsonrpc":"2.0","id":"declare","method":"tools/register","params":{"tools":${scene.declared}}}\n`;
		await life.answerTo("declare", "initialize", () => life.write(declare));
	}
	if (life.dialect === "wire") await life.ask("prompt", { user_input: prompt });
	else await create(life, { prompt, ...scene.create });
	if (life.outcome.length === 0) life.complaints.push(`nothing came of it within ${patience} ms`);
}

/** Makes the hostile session, with all tools unless `params` say otherwise, and gives its id; "" when there is none. */
export async function create(life: Life, params: Fields): Promise<string> {
	const tools = { enable_builtins: true, enable_shell: true };
	const reply = await life.ask("session/create", { model: "hostile", ...tools, ...params });
	return isRecord(reply?.result) ? String(reply.result["session_id"] ?? "") : "";
}

/** Whatever happened: another session, or the next prompt, works. */
async function checkCalm(life: Life, loopback: Loopback): Promise<void> {
	const known = life.outcome.length;
	if (life.dialect === "rpc") await life.ask("turn/start", { session_id: life.calmSession, prompt: "still there?" });
	else {
		loopback.queue([say("done")]);
		await life.ask("prompt", { user_input: "still there?" });
	}
	const [said = "no answer"] = life.outcome.splice(known).slice(-1);
	if (!/"text":"done"|"status":"finished"/.test(said)) life.complaints.push(`it does not go on: ${said}`);
}

/** The settings of every case, with those of the scene merged in. */
function settingsFor({ url }: Loopback, { settings = {} }: Scene): Fields {
	const model = (name: string) => ({ provider: "loopback", model: name, max_context_size: 100_000_000 });
	const usual = {
		default_model: "hostile",
		models: { hostile: model("hostile"), calm: model("calm") },
		providers: { loopback: { type: "openai_legacy", base_url: `${url}/v1`, api_key: "key" } },
		loop_control: { max_retries_per_step: 1 },
		agentwire: { fetch_allow: ["127.0.0.1"], contain: "off" },
	};
	return merge(usual, settings);
}

function merge(base: Fields, more: Fields): Fields {
	const merged: Record<string, unknown> = { ...base };
	for (const [key, value] of Object.entries(more)) {
		const before = merged[key];
		merged[key] = isRecord(before) && isRecord(value) ? merge(before, value) : value;
	}
	return merged;
}
