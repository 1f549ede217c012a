// The client of Meerkat RPC in the crash and kill campaigns: many sessions over one connection, each played as planned,
// whatever the others do.
import { isRecord } from "../../../src/base/json.ts";
import { type Channel, type Fields, type Part, toLine } from "../frame/life.ts";
import { shell } from "../wire/crash-scenarios.ts";

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
	/** Interrupts after so many events; null for never. */
	readonly interruptAfter: number | null;
	/** Archives the session when its runs are over. */
	readonly archives: boolean;
}

const usage = 'usage: {"input_other": 10, "output": 5}';
const said = `think: hm\ntext: Hello\ntext:  there\n${usage}`;

/** What the model of a session answers in one life, run by run. */
export function answersOf({ index, hasTools, runs }: SessionPlan, life: number): readonly string[] {
	if (life > 1) return [shell("call-1", `echo again-${index}-${life} >> effects`), said, said];
	if (!hasTools) return Array.from({ length: runs }, () => said);
	return Array.from({ length: runs }, (_, run) => {
		const call = (number: number, name: string): string =>
			shell(`call-${run}-${number}`, `sleep 0.0${index % 5}; echo ${name}-${index}-${run} >> effects`);
		return [`text: I will.\n${call(1, "one")}\n${call(2, "two")}\n${usage}`, said];
	}).flat();
}

/** The commands that the model of a session may call for, whatever the life. */
export function commandsOf(plan: SessionPlan): readonly string[] {
	const answers = [1, 2, 3, 4].flatMap((life) => answersOf(plan, life)).join("\n");
	return [...answers.matchAll(/"command\\":\\"(.*?)\\"/g)].flatMap(([, command]) => command ?? []);
}

const promptOf = (index: number, run: number): string => `session ${index}, run ${run}`;

/** The plan that the prompt of a run is of; null for another prompt. That of a deferred first run begins with its creation's. */
export function planIndexOf(prompt: unknown): number | null {
	const [, index] = /^session (\d+), run \d+(?:\n|$)/.exec(String(prompt)) ?? [];
	return index === undefined ? null : Number(index);
}

export function eventOf({ method, params }: Fields): Fields | null {
	if (method !== "session/event" || !isRecord(params)) return null;
	return isRecord(params["event"]) ? params["event"] : null;
}

/** The session that a message is about; null for none. */
export function sessionOf({ id, params, result, error }: Fields): string | null {
	const [, named] = /^(?:read|turn|archive|interrupt) (\S+)$/.exec(String(id)) ?? [];
	if (named !== undefined) return named;
	const about = [params, result, isRecord(error) ? error["data"] : null].find(isRecord);
	return typeof about?.["session_id"] === "string" ? about["session_id"] : null;
}

export function parseLine(line: string): Fields {
	const message: unknown = JSON.parse(line);
	if (!isRecord(message)) throw new Error(`not a message: ${line}`);
	return message;
}

type Send = (message: Fields) => void;
/** Takes what comes, and says whether there is nothing more to wait for. */
type Player = (send: Send) => { take(message: Fields): void; isDone(): boolean };

/** The part of a client that plays so, with a model for each plan. */
export function toPart(plans: readonly SessionPlan[], life: number, player: Player): Part {
	const models = plans.map((plan) => [`m${plan.index}`, answersOf(plan, life)] as const);
	return {
		models: { plain: [said, said, said], ...Object.fromEntries(models) },
		argv: ["rpc"],
		async play(channel: Channel) {
			const { take, isDone } = player((message) => channel.write(toLine(message)));
			while (!isDone()) {
				const line = await channel.read();
				if (line === null) return false;
				take(parseLine(line));
			}
			return true;
		},
	};
}

/** Creates all sessions at once and goes on with each as planned. */
export function playPlans(plans: readonly SessionPlan[]): Player {
	return (send) => {
		const planOf = new Map<string, SessionPlan>();
		const events = new Map<number, number>();
		const left = new Set(
			plans.filter(({ decision, hasTools }) => !hasTools || decision !== null).map(({ index }) => index),
		);
		const planAt = (index: number): SessionPlan | undefined => plans.find((plan) => plan.index === index);
		const goOn = ({ index, runs, archives }: SessionPlan, id: string, done: number): void => {
			const about = { session_id: id };
			if (done < runs) {
				const params = { ...about, prompt: promptOf(index, done + 1) };
				send({ id: `run-${index}-${done + 1}`, method: "turn/start", params });
			} else if (archives) send({ id: `archive ${id}`, method: "session/archive", params: about });
			else left.delete(index);
		};
		const takeEvent = (event: Fields, sessionId: string): void => {
			const started = planAt(planIndexOf(event["prompt"]) ?? -1);
			if (started !== undefined) planOf.set(sessionId, started);
			const plan = planOf.get(sessionId);
			if (plan === undefined) return;
			const count = (events.get(plan.index) ?? 0) + 1;
			events.set(plan.index, count);
			if (count !== plan.interruptAfter) return;
			send({ id: `interrupt ${sessionId}`, method: "turn/interrupt", params: { session_id: sessionId } });
		};
		send({ id: "initialize", method: "initialize", params: { requests: ["approval/request"] } });
		for (const { index, isDeferred, hasTools } of plans) {
			const params = {
				prompt: promptOf(index, isDeferred ? 0 : 1),
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
				const sessionId = sessionOf(message) ?? "";
				const event = eventOf(message);
				if (event !== null) return takeEvent(event, sessionId);
				if (message["method"] === "approval/request") {
					const decision = planOf.get(sessionId)?.decision ?? null;
					if (decision !== null) send({ id: message["id"], result: { decision } });
					return;
				}
				const id = String(message["id"]);
				const [, index, run] = /^run-(\d+)-(\d+)$/.exec(id) ?? [];
				const plan = index === undefined ? undefined : planAt(Number(index));
				if (plan !== undefined) goOn(plan, sessionId, Number(run));
				else if (id.startsWith("archive ")) left.delete(planOf.get(sessionId)?.index ?? -1);
			},
		};
	};
}

export const readId = (sessionId: string): string => `read ${sessionId}`;
export const turnId = (sessionId: string): string => `turn ${sessionId}`;

/** Reads every session and starts a run in each, all at once; approves whatever is requested. */
export function playAgain(sessionIds: readonly string[], life: number): Player {
	return (send) => {
		const left = new Set<string>();
		const request = (id: string, method: string, params: Fields): void => {
			left.add(id);
			send({ id, method, params });
		};
		request("initialize", "initialize", { requests: ["approval/request"] });
		for (const id of sessionIds) {
			request(readId(id), "session/read", { session_id: id });
			request(turnId(id), "turn/start", { session_id: id, prompt: `again in life ${life}` });
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
