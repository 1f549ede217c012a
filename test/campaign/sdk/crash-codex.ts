// The app-server in the crash campaign: a client with several threads over one connection.
import { isRecord } from "../../../src/base/json.ts";
import { createCodexDialect } from "../../../src/frontends/codex/dialect.ts";
import { parseLine } from "../acp/crash-client.ts";
import type { CrashDialect, SessionLife } from "../frame/crash-round.ts";
import { serveHosted } from "../frame/hosted-life.ts";
import { type Fields, type Part, toLine } from "../frame/life.ts";
import { answersOf, commandsOf, ofPlans, type Plans, type SessionPlan, said } from "../frame/session-plan.ts";
import { type Claim, judgeClaims } from "./crash-claims.ts";

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});

/** Requests name their thread in their ids: a kind, then the thread, or for a new one the plan. */
const readId = (id: unknown) => {
	const [kind = "", of = ""] = String(id).split(" ");
	return { kind, of };
};

function threadOf({ id, method, params, result }: Fields): string | null {
	if (method === undefined && ["prompt", "load"].includes(readId(id).kind)) return readId(id).of;
	const thread = fieldsOf(fieldsOf(method === undefined ? result : params)["thread"])["id"];
	const named = fieldsOf(params)["threadId"] ?? thread;
	return typeof named === "string" ? named : null;
}

const initialize = { id: "initialize", method: "initialize", params: { clientInfo: { name: "c", version: "1" } } };
const decisions = { approve: "accept", approve_for_session: "acceptForSession", reject: "decline" } as const;

/** Starts all threads at once, or resumes those that are known, and prompts in each as planned. */
function toPart(plans: Plans, life: number, known: readonly string[] | null): Part {
	const models = plans.map((plan) => [`m${plan.index}`, answersOf(plan, life)] as const);
	return {
		models: { plain: [said, said, said], ...Object.fromEntries(models) },
		argv: ["codex", "app-server"],
		async play({ write, read }, cwd) {
			const send = (message: Fields): void => write(toLine(message));
			const planOf = new Map<string, SessionPlan>();
			const turns = new Map<string, unknown>();
			const counts = new Map<string, number>();
			const done = new Map<string, number>();
			const left = new Set<unknown>(known ?? plans.map(({ index }) => index));
			const goOn = (threadId: string): void => {
				const count = (done.get(threadId) ?? 0) + 1;
				done.set(threadId, count);
				const plan = planOf.get(threadId);
				if (count > (plan?.prompts ?? 1)) return void left.delete(plan?.index ?? threadId);
				const text = `thread ${plan?.index ?? ""}, life ${life}, prompt ${count}`;
				send({ id: `prompt ${threadId}`, method: "turn/start", params: { threadId, input: [{ type: "text", text }] } });
			};
			const take = (message: Fields): void => {
				const { id, method, params, error } = message;
				const threadId = threadOf(message) ?? "";
				const plan = planOf.get(threadId);
				if (method === undefined) {
					const { kind, of } = readId(id);
					if (error !== undefined) return void left.delete(plan?.index ?? (kind === "new" ? Number(of) : of));
					const created = plans.find(({ index }) => kind === "new" && String(index) === of);
					if (created !== undefined) planOf.set(threadId, created);
					if (kind === "new" || kind === "load") goOn(threadId);
					return;
				}
				if (id !== undefined) {
					const choice = known === null ? plan?.choice : "approve";
					// A request for permission that nobody answers is left as it is.
					if (choice === null) left.delete(plan?.index);
					else if (choice !== undefined) send({ id, result: { decision: decisions[choice] } });
					return;
				}
				if (method === "turn/started") turns.set(threadId, fieldsOf(fieldsOf(params)["turn"])["id"]);
				const count = (counts.get(threadId) ?? 0) + 1;
				counts.set(threadId, count);
				if (count === plan?.cancelAfter) {
					const params = { threadId, turnId: turns.get(threadId) ?? "none" };
					send({ id: "interrupt", method: "turn/interrupt", params });
				}
				if (method === "turn/completed") goOn(threadId);
			};
			send(initialize);
			for (const { index } of known === null ? plans : []) {
				const params = { cwd, model: `m${index}`, approvalPolicy: "on-request" };
				send({ id: `new ${index}`, method: "thread/start", params });
			}
			for (const threadId of known ?? [])
				send({ id: `load ${threadId}`, method: "thread/resume", params: { threadId } });
			while (left.size > 0) {
				const line = await read();
				if (line === null) return false;
				take(parseLine(line));
			}
			return true;
		},
	};
}

function claimsOfItem(item: Fields, isOver: boolean): readonly Claim[] {
	const { type, id, text, content, status } = item;
	if (type === "userMessage" || type === "contextCompaction") return [];
	if (type === "agentMessage") return isOver ? [{ kind: "text", value: String(text) }] : [];
	if (type === "reasoning")
		return isOver && Array.isArray(content) ? [{ kind: "think", value: String(content[0]) }] : [];
	if (!isOver) return [{ kind: "call", value: String(id) }];
	// What failed may have been broken off, which the client alone is told.
	return status === "completed" ? [{ kind: "result", value: String(id) }] : [];
}

/** The turns that a client knows to have begun. */
function toClaims(line: string): readonly Claim[] {
	const { id, method, params, result } = parseLine(line);
	const { item, turn } = fieldsOf(params);
	if (method === undefined && readId(id).kind === "prompt" && isRecord(result)) return [{ kind: "begin", value: "" }];
	if (method === "item/started" || method === "item/completed")
		return claimsOfItem(fieldsOf(item), method === "item/completed");
	return method === "turn/completed" && fieldsOf(turn)["status"] === "completed" ? [{ kind: "end", value: "" }] : [];
}

/** The turns as `thread/resume` tells them. */
function told({ delivered }: SessionLife): readonly Claim[] {
	const response = delivered
		.map(parseLine)
		.find(({ id, method }) => method === undefined && readId(id).kind === "load");
	const { turns } = fieldsOf(fieldsOf(response?.["result"])["thread"]);
	return (Array.isArray(turns) ? turns : []).flatMap((turn): Claim[] => {
		const { status, items } = fieldsOf(turn);
		const claims = (Array.isArray(items) ? items : []).flatMap((item) =>
			[false, true].flatMap((isOver) => claimsOfItem(fieldsOf(item), isOver)),
		);
		const end: readonly Claim[] = status === "completed" ? [{ kind: "end", value: "" }] : [];
		return [{ kind: "begin", value: "" }, ...claims, ...end];
	});
}

/** The plan that a thread is of; null when its beginning was not reported. */
function planIndexOf(lives: readonly SessionLife[]): number | null {
	const messages = lives.flatMap(({ delivered }) => delivered.map(parseLine));
	const created = messages.find(({ id, method }) => method === undefined && readId(id).kind === "new");
	return created === undefined ? null : Number(readId(created["id"]).of);
}

export const codexCrash: CrashDialect<Plans> = {
	...ofPlans,
	partsOf(scenario, kind, life, known) {
		return kind === "earlier" ? [] : [toPart(scenario, life, kind === "stopped" ? null : known)];
	},
	serve: serveHosted(
		createCodexDialect({
			home: "/home/share",
			sandbox: "danger-full-access",
			hasNetwork: true,
			directoryOf: () => null,
		}),
	),
	sessionOf: (line) => threadOf(parseLine(line)),
	commandsOf(scenario, _id, lives) {
		const found = planIndexOf(lives);
		return scenario.flatMap((plan) => (plan.index === found ? commandsOf(plan) : []));
	},
	judge: (_id, lives) => judgeClaims(lives, toClaims, told),
};
