// The editor of the crash and kill campaigns: many sessions over one connection, each played as planned, whatever the others do.
import { isRecord } from "../../../src/base/json.ts";
import { type Channel, type Fields, type Part, toLine } from "../frame/life.ts";
import { answersOf, type SessionPlan, said } from "../frame/session-plan.ts";

export function parseLine(line: string): Fields {
	const message: unknown = JSON.parse(line);
	if (!isRecord(message)) throw new Error(`not a message: ${line}`);
	return message;
}

/** What a request is for, in its id: a kind, the session, and where it matters the plan. */
export function readId(id: unknown): { readonly kind: string; readonly sessionId: string; readonly index: number } {
	const [kind = "", sessionId = "", index = "-1"] = String(id).split(" ");
	return { kind, sessionId, index: Number(index) };
}

/** The session that a message is about; null for none. */
export function sessionOf({ id, method, params, result }: Fields): string | null {
	if (method === undefined && readId(id).sessionId !== "" && readId(id).kind !== "new") return readId(id).sessionId;
	const about = [params, result].find(isRecord);
	return typeof about?.["sessionId"] === "string" ? about["sessionId"] : null;
}

type Send = (message: Fields) => void;
/** Takes what comes, and says whether there is nothing more to wait for. */
type Player = (send: Send, cwd: string) => { take(message: Fields): void; isDone(): boolean };

/** The part of a client that plays so, with a model for each plan. */
export function toPart(plans: readonly SessionPlan[], life: number, player: Player): Part {
	const models = plans.map((plan) => [`m${plan.index}`, answersOf(plan, life)] as const);
	return {
		models: { plain: [said, said, said], ...Object.fromEntries(models) },
		argv: ["acp"],
		async play(channel: Channel, workDir: string) {
			const { take, isDone } = player((message) => channel.write(toLine(message)), workDir);
			while (!isDone()) {
				const line = await channel.read();
				if (line === null) return false;
				take(parseLine(line));
			}
			return true;
		},
	};
}

const initialize = { id: "initialize", method: "initialize", params: { protocolVersion: 1 } };
const textOf = (text: string) => [{ type: "text", text }];

const choose = (send: Send, id: unknown, optionId: string): void =>
	send({ id, result: { outcome: { outcome: "selected", optionId } } });

/** Creates all sessions at once and goes on with each as planned. */
export function playPlans(plans: readonly SessionPlan[]): Player {
	return (send, cwd) => {
		const planOf = new Map<string, SessionPlan>();
		const updates = new Map<string, number>();
		const done = new Map<string, number>();
		// Whose permission requests nobody answers is left as it is.
		const left = new Set(
			plans.filter(({ choice, hasTools }) => !hasTools || choice !== null).map(({ index }) => index),
		);
		const goOn = (sessionId: string, plan: SessionPlan): void => {
			const count = done.get(sessionId) ?? 0;
			done.set(sessionId, count + 1);
			if (count === plan.prompts) left.delete(plan.index);
			else {
				const params = { sessionId, prompt: textOf(`session ${plan.index}, prompt ${count + 1}`) };
				send({ id: `prompt ${sessionId} ${plan.index} ${count + 1}`, method: "session/prompt", params });
			}
		};
		const takeUpdate = (sessionId: string): void => {
			const count = (updates.get(sessionId) ?? 0) + 1;
			updates.set(sessionId, count);
			if (count === planOf.get(sessionId)?.cancelAfter) send({ method: "session/cancel", params: { sessionId } });
		};
		send(initialize);
		for (const { index } of plans) {
			send({ id: `new - ${index}`, method: "session/new", params: { cwd, mcpServers: [] } });
		}
		return {
			isDone: () => left.size === 0,
			take(message) {
				const sessionId = sessionOf(message) ?? "";
				if (message["method"] === "session/update") return takeUpdate(sessionId);
				if (message["method"] === "session/request_permission") {
					const choice = planOf.get(sessionId)?.choice ?? null;
					if (choice !== null) choose(send, message["id"], choice);
					return;
				}
				const { kind, index } = readId(message["id"]);
				const plan = plans.find((each) => each.index === index);
				if (plan === undefined) return;
				planOf.set(sessionId, plan);
				if (kind === "new") {
					const params = { sessionId, configId: "model", value: `m${index}` };
					send({ id: `model ${sessionId} ${index}`, method: "session/set_config_option", params });
				} else goOn(sessionId, plan);
			},
		};
	};
}

/** Loads every session and prompts in each, all at once; allows whatever is requested. */
export function playAgain(sessionIds: readonly string[], life: number): Player {
	return (send, cwd) => {
		const left = new Set<string>(["initialize"]);
		const request = (id: string, method: string, params: Fields): void => {
			left.add(id);
			send({ id, method, params });
		};
		send(initialize);
		for (const id of sessionIds) request(`load ${id}`, "session/load", { sessionId: id, cwd, mcpServers: [] });
		return {
			isDone: () => left.size === 0,
			take({ id, method, error }) {
				if (method === "session/request_permission") return choose(send, id, "approve");
				if (method !== undefined) return;
				left.delete(String(id));
				const { kind, sessionId } = readId(id);
				if (kind !== "load" || error !== undefined) return;
				const prompt = textOf(`again in life ${life}`);
				request(`prompt ${sessionId} -1 ${life}`, "session/prompt", { sessionId, prompt });
			},
		};
	};
}
