// The client of the crash campaign: many sessions over one gateway, each played as planned, and after a stop each stream
// continued with the cursor that it had.
import { isRecord } from "../../../src/base/json.ts";
import type { Channel, Fields, Part } from "../frame/life.ts";
import { shell } from "../wire/crash-scenarios.ts";

/** What the client does with one session. */
export interface SessionPlan {
	readonly index: number;
	readonly hasTools: boolean;
	/** Turns in all. */
	readonly turns: number;
	/** How it answers approvals; null for not at all. */
	readonly decision: "approve" | "approve_for_session" | "reject" | null;
	/** Cancels after so many durable events; null for never. */
	readonly cancelAfter: number | null;
	/** Whether after a stop the next turn begins before the stream is continued, as another client would do it. */
	readonly othersFirst: boolean;
}

/** What is sent: a method, a stream of one session from a cursor on, or a look at the history. */
export type Order =
	| { readonly kind: "call"; readonly id: string; readonly method: string; readonly params: Fields }
	| { readonly kind: "follow"; readonly sessionId: string; readonly cursor: string | null }
	| { readonly kind: "history"; readonly sessionId: string };

export const parseOrder = (line: string): Order => JSON.parse(line);

export function parseLine(line: string): Fields {
	const message: unknown = JSON.parse(line);
	if (!isRecord(message)) throw new Error(`not a message: ${line}`);
	return message;
}

const usage = 'usage: {"input_other": 10, "output": 5}';
const said = `think: hm\ntext: Hello\ntext:  there\n${usage}`;

/** What the model of a session answers in one life. */
function answersOf({ index, hasTools, turns }: SessionPlan, life: number): readonly string[] {
	if (life > 1) return [shell("call-1", `echo again-${index}-${life} >> effects`), said, said];
	if (!hasTools) return Array.from({ length: turns }, () => said);
	return Array.from({ length: turns }, (_, turn) => {
		const call = (number: number, name: string) =>
			shell(`call-${turn}-${number}`, `echo ${name}-${index}-${turn} >> effects`);
		return [`text: I will.\n${call(1, "one")}\n${call(2, "two")}\n${usage}`, said];
	}).flat();
}

/** The commands that the model of a session may call for, whatever the life. */
export function commandsOf(plan: SessionPlan): readonly string[] {
	const answers = [1, 2, 3, 4].flatMap((life) => answersOf(plan, life)).join("\n");
	return [...answers.matchAll(/"command\\":\\"(.*?)\\"/g)].flatMap(([, command]) => command ?? []);
}

/** The session that a line is about; null for none. */
export function sessionOf(message: Fields): string | null {
	const about = [message, message["data"], resultOf(message)].find(
		(each) => isRecord(each) && typeof each["sessionId"] === "string",
	);
	return isRecord(about) ? String(about["sessionId"]) : null;
}

/** The result of a method; null for an error, and for what is no answer. */
export function resultOf({ answer }: Fields): Fields | null {
	return isRecord(answer) && isRecord(answer["result"]) ? answer["result"] : null;
}

/** Of a message of a stream. */
export const dataOf = ({ data }: Fields): Fields => (isRecord(data) ? data : {});

type Send = (order: Order) => void;
/** Takes what comes, and says whether there is nothing more to wait for. */
type Player = (send: Send) => { take(message: Fields): void; isDone(): boolean };

export function toPart(plans: readonly SessionPlan[], life: number, player: Player): Part {
	return {
		models: Object.fromEntries(plans.map((plan) => [`m${plan.index}`, answersOf(plan, life)] as const)),
		argv: ["serve"],
		async play(channel: Channel) {
			const { take, isDone } = player((order) => channel.write(JSON.stringify(order)));
			while (!isDone()) {
				const line = await channel.read();
				if (line === null) return false;
				take(parseLine(line));
			}
			return true;
		},
	};
}

function answerRequest(send: Send, { sessionId, interaction }: Fields, decision: SessionPlan["decision"]): void {
	if (decision === null || !isRecord(interaction)) return;
	const answer = { kind: "approval", decision };
	const params = { sessionId, interactionId: interaction["id"], answer };
	send({ kind: "call", id: `answer ${interaction["id"]}`, method: "interaction.respond", params });
}

/** Creates all sessions at once, and goes on with each as planned. */
export function playPlans(plans: readonly SessionPlan[]): Player {
	return (send) => {
		const planOf = new Map<string, SessionPlan>();
		const counts = new Map<string, { turns: number; events: number }>();
		const left = new Set(plans.map(({ index }) => index));
		const goOn = (sessionId: string, plan: SessionPlan): void => {
			const count = counts.get(sessionId) ?? { turns: 0, events: 0 };
			counts.set(sessionId, count);
			if (count.turns === plan.turns) return void left.delete(plan.index);
			count.turns += 1;
			const params = { sessionId, input: `session ${plan.index}, turn ${count.turns}` };
			send({ kind: "call", id: `turn ${sessionId} ${count.turns}`, method: "turn.start", params });
		};
		const takeEvent = (sessionId: string, plan: SessionPlan, event: Fields): void => {
			const count = counts.get(sessionId);
			if (count === undefined) return;
			count.events += 1;
			if (count.events === plan.cancelAfter) {
				send({ kind: "call", id: `cancel ${sessionId}`, method: "turn.cancel", params: { sessionId } });
			}
			if (event["type"] === "interaction.requested") answerRequest(send, event, plan.decision);
			// What nobody answers is left as it is.
			if (event["type"] === "interaction.requested" && plan.decision === null) left.delete(plan.index);
			if (event["type"] === "turn.ended") goOn(sessionId, plan);
		};
		for (const { index } of plans) {
			send({ kind: "call", id: `create ${index}`, method: "sessions.create", params: { model: `m${index}` } });
		}
		return {
			isDone: () => left.size === 0,
			take(message) {
				const [kind, index] = String(message["id"]).split(" ");
				const created = kind === "create" ? resultOf(message) : null;
				const creator = plans.find((plan) => String(plan.index) === index);
				if (created !== null && creator !== undefined) {
					const sessionId = String(created["sessionId"]);
					planOf.set(sessionId, creator);
					return send({ kind: "follow", sessionId, cursor: null });
				}
				const data = dataOf(message);
				const sessionId = String(data["sessionId"]);
				const plan = planOf.get(sessionId);
				if (plan === undefined) return;
				if (message["event"] === "state") goOn(sessionId, plan);
				if (message["event"] === "e") takeEvent(sessionId, plan, data);
			},
		};
	};
}

/** A session as the client knows it after a stop. */
export interface KnownSession {
	readonly sessionId: string;
	/** The id of the last durable event that it has; null when it has none, and wants all there are. */
	readonly cursor: string | null;
	readonly othersFirst: boolean;
}

/** Continues every stream where it was, has one more turn in each session, and looks at the history in the end. */
export function playAgain(known: readonly KnownSession[], life: number): Player {
	return (send) => {
		const left = new Set(known.map(({ sessionId }) => sessionId));
		const lookAt = (sessionId: string): void => send({ kind: "history", sessionId });
		const follow = ({ sessionId, cursor }: KnownSession): void =>
			send({ kind: "follow", sessionId, cursor: cursor ?? `${sessionId}@none:0` });
		const startTurn = ({ sessionId }: KnownSession): void =>
			send({
				kind: "call",
				id: `turn ${sessionId} ${life}`,
				method: "turn.start",
				params: { sessionId, input: `life ${life}` },
			});
		/** The turn of this life, by session: what was stored before is sent as well. */
		const turns = new Map<string, string>();
		const ended = new Map<string, Set<string>>();
		const followed = new Set<string>();
		for (const one of known) (one.othersFirst ? startTurn : follow)(one);
		const settle = (sessionId: string): void => {
			const turn = turns.get(sessionId);
			if (turn !== undefined && ended.get(sessionId)?.has(turn)) lookAt(sessionId);
		};
		return {
			isDone: () => left.size === 0,
			take(message) {
				const sessionId = sessionOf(message) ?? String(message["id"]).split(" ")[1] ?? "";
				const one = known.find((each) => each.sessionId === sessionId);
				if (one === undefined) return;
				if ("history" in message || message["event"] === "failed") return void left.delete(sessionId);
				if (String(message["id"]).startsWith("turn ")) {
					const started = resultOf(message);
					if (started !== null) turns.set(sessionId, String(started["turnId"]));
					if (one.othersFirst && !followed.has(sessionId)) {
						followed.add(sessionId);
						follow(one);
					}
					return settle(sessionId);
				}
				if (message["event"] === "state" && !one.othersFirst) startTurn(one);
				if (message["event"] !== "e") return;
				const data = dataOf(message);
				if (data["type"] === "interaction.requested") answerRequest(send, data, "approve");
				if (data["type"] !== "turn.ended") return;
				ended.set(sessionId, (ended.get(sessionId) ?? new Set()).add(String(data["turnId"])));
				settle(sessionId);
			},
		};
	};
}
