// One life of `agentwire rpc` for the kill campaign of many sessions: started, spoken to by a client, and killed or let
// end. Judges nothing.
import { spawn } from "node:child_process";
import { isRecord } from "../../../src/base/json.ts";
import { createLineReader, type Place } from "../kill/kill-life.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What the client does with one session. */
export interface SessionPlan {
	readonly index: number;
	/** The first run comes with a request of its own. */
	readonly isDeferred: boolean;
	readonly hasTools: boolean;
	/** Runs in all. */
	readonly runs: number;
	/** What it says to approvals; null for nothing. */
	readonly decision: "approve" | "approve_for_session" | "reject" | null;
	/** Interrupts behind so many events; null for never. */
	readonly interruptAfter: number | null;
	/** Puts the session away when its runs are over. */
	readonly archives: boolean;
}

export interface HostedLife {
	readonly delivered: readonly Fields[];
	/** Whether everything that was to be done was done. */
	readonly completed: boolean;
	/** Milliseconds from the first line to the end of the client's part. */
	readonly duration: number;
	/** What was wrong with a life that was not killed. */
	readonly complaints: readonly string[];
}

type Send = (message: Fields) => void;
/** Takes what comes, and says whether there is more to wait for. */
export type Play = (send: Send) => { take(message: Fields): void; isDone(): boolean };

/** Milliseconds after which a server that does not come to its end counts as hung. */
const patience = 30_000;

export async function liveHosted(
	{ root, workDir, shareDir, executable }: Place,
	configFile: string,
	play: Play,
	killAfter: number | null,
): Promise<HostedLife> {
	const child = spawn(executable, ["rpc", "--work-dir", workDir, "--config-file", configFile], {
		cwd: workDir,
		env: { PATH: process.env["PATH"] ?? "", HOME: root, KIMI_SHARE_DIR: shareDir },
		stdio: ["pipe", "pipe", "pipe"],
	});
	let errors = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		errors += text;
	});
	const exited = new Promise<string>((resolve) => child.once("close", (code, signal) => resolve(`${code ?? signal}`)));
	child.stdin.on("error", () => {});
	const kill = (): void => void child.kill("SIGKILL");
	const hung = setTimeout(kill, patience);
	const reader = createLineReader(child.stdout);
	let begun = performance.now();
	let killing: NodeJS.Timeout | undefined;
	void reader.first.then(() => {
		begun = performance.now();
		if (killAfter !== null) killing = setTimeout(kill, killAfter);
	});
	const player = play((message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
	const delivered: Fields[] = [];
	const read = async (): Promise<boolean> => {
		const line = await reader.read();
		if (line === null) return false;
		const message: unknown = JSON.parse(line);
		if (!isRecord(message)) throw new Error(`not a message: ${line}`);
		delivered.push(message);
		player.take(message);
		return true;
	};
	while (!player.isDone()) if (!(await read())) break;
	const completed = player.isDone();
	const duration = performance.now() - begun;
	if (killAfter === null) child.stdin.end();
	while (await read()) {
		// What was written before the end was received, wherever the client stopped.
	}
	const end = await exited;
	clearTimeout(hung);
	clearTimeout(killing);
	const isFaulty = killAfter === null && (!completed || end !== "0");
	return { delivered, completed, duration, complaints: isFaulty ? [`the process ended with ${end}: ${errors}`] : [] };
}

export const promptOf = (index: number, run: number): string => `session ${index}, run ${run}`;

/** Makes all sessions at once and goes on with each as planned, whatever the others do. */
export function playPlans(plans: readonly SessionPlan[]): Play {
	return (send) => {
		const ids = new Map<string, SessionPlan>();
		const events = new Map<number, number>();
		const left = new Set(
			plans.filter(({ decision, hasTools }) => !hasTools || decision !== null).map(({ index }) => index),
		);
		const planAt = (index: number): SessionPlan | undefined => plans.find((plan) => plan.index === index);
		const goOn = (plan: SessionPlan, sessionId: string, done: number): void => {
			const { index, runs, archives } = plan;
			if (done < runs) {
				const params = { session_id: sessionId, prompt: promptOf(index, done + 1) };
				send({ id: `run-${index}-${done + 1}`, method: "turn/start", params });
			} else if (archives)
				send({ id: `archive-${index}`, method: "session/archive", params: { session_id: sessionId } });
			else left.delete(index);
		};
		send({ id: "initialize", method: "initialize", params: { requests: ["approval/request"] } });
		for (const { index, isDeferred, hasTools } of plans) {
			const params = {
				prompt: promptOf(index, 1),
				model: `m${index}`,
				enable_builtins: hasTools,
				enable_shell: hasTools,
				...(isDeferred ? { initial_turn: "deferred" } : {}),
			};
			send({ id: `run-${index}-${isDeferred ? 0 : 1}`, method: "session/create", params });
		}
		return {
			isDone: () => left.size === 0,
			take(message) {
				const { id, method, params, result, error } = message;
				const about = isRecord(params) ? params : isRecord(result) ? result : isRecord(error) ? error["data"] : {};
				const sessionId = isRecord(about) ? String(about["session_id"]) : "";
				if (method === "session/event" && isRecord(params) && isRecord(params["event"])) {
					const [, index] = /^session (\d+),/.exec(String(params["event"]["prompt"])) ?? [];
					const started = index === undefined ? undefined : planAt(Number(index));
					if (started !== undefined) ids.set(sessionId, started);
					const plan = ids.get(sessionId);
					if (plan === undefined) return;
					const count = (events.get(plan.index) ?? 0) + 1;
					events.set(plan.index, count);
					if (count !== plan.interruptAfter) return;
					send({ id: `interrupt-${plan.index}`, method: "turn/interrupt", params: { session_id: sessionId } });
				} else if (method === "approval/request") {
					const decision = ids.get(sessionId)?.decision ?? null;
					if (decision !== null) send({ id, result: { decision } });
				} else {
					const [, kind, index, run] = /^(run|archive)-(\d+)(?:-(\d+))?$/.exec(String(id)) ?? [];
					const plan = planAt(Number(index));
					if (plan === undefined) return;
					if (kind === "archive") left.delete(plan.index);
					else goOn(plan, sessionId, Number(run));
				}
			},
		};
	};
}

export const readId = (sessionId: string): string => `read ${sessionId}`;
export const turnId = (sessionId: string): string => `turn ${sessionId}`;

/** Looks at every session and starts a run in each, all at once; says yes to whatever is asked. */
export function playAgain(sessionIds: readonly string[], life: number): Play {
	return (send) => {
		const left = new Set<string>();
		const ask = (id: string, method: string, params: Fields): void => {
			left.add(id);
			send({ id, method, params });
		};
		ask("initialize", "initialize", { requests: ["approval/request"] });
		for (const sessionId of sessionIds) {
			ask(readId(sessionId), "session/read", { session_id: sessionId });
			ask(turnId(sessionId), "turn/start", { session_id: sessionId, prompt: `again in life ${life}` });
		}
		return {
			isDone: () => left.size === 0,
			take({ id, method }) {
				if (method === "approval/request") send({ id, result: { decision: "approve" } });
				else left.delete(String(id));
			},
		};
	};
}
