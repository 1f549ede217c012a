// What models call for in the interleavings of SDK clients, and the server that they speak to.
import fc from "fast-check";
import { hostedPlace } from "../../support/sessions/hosted-server.ts";
import type { Interaction } from "../frame/actor.ts";
import { type CalledTool, type HostLimits, type HostRunning, modelAnswers } from "../frame/hosted-liveness.ts";
import type { CommonAction } from "../frame/liveness.ts";
import { type AnswerKind, answerKinds, type SdkActor, sessionOf } from "./liveness-client.ts";

/** Something that needs a permission, reading, a question, a tool of the client, and what fails. */
export type CallKind = "write" | "read" | "ask" | "paint" | "todo" | "unknown" | "broken";

const { workDir } = hostedPlace;
export const writtenPath = (callId: string): string => `${workDir}/${callId}.txt`;
const question = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };

/** `paint` is the name of the client's tool. */
export function toTool(paint: string): (kind: CallKind, id: string) => CalledTool {
	return (kind, id) =>
		({
			write: ["WriteFile", { path: writtenPath(id), content: "written" }] as const,
			read: ["ReadFile", { path: `${workDir}/read.txt` }] as const,
			ask: ["AskUserQuestion", { questions: [question] }] as const,
			paint: [paint, { color: "blue" }] as const,
			todo: ["SetTodoList", { todos: [{ title: "Do it", status: "in_progress" }] }] as const,
			unknown: ["Nothing", {}] as const,
			broken: ["WriteFile", '{"path":'] as const,
		})[kind];
}

export const answer = modelAnswers<CallKind>(
	...(["write", "write", "write", "read", "ask", "paint", "todo", "unknown", "broken"] as const),
);
export const session = fc.integer({ min: 0, max: 5 });

/** A model that calls for something, a prompt, and the client's first answers; then something that cuts it off, or not. */
export function scenes<Action>(
	begin: readonly Action[],
	model: (calls: readonly CallKind[]) => Action,
	prompt: Action,
	cuts: readonly Action[],
): fc.Arbitrary<readonly (Action | CommonAction<AnswerKind>)[]> {
	return fc
		.record({
			calls: fc.array(fc.constantFrom<CallKind>("write", "write", "ask", "paint"), { minLength: 1, maxLength: 3 }),
			hows: fc.array(fc.constantFrom<AnswerKind>(...answerKinds, "yes", "yes", "yes"), { maxLength: 3 }),
			cut: fc.constantFrom<Action | null>(...cuts, null),
		})
		.map(({ calls, hows, cut }) => [
			...begin,
			model(calls),
			prompt,
			...hows.map((how) => ({ do: "answer" as const, which: 0, how })),
			...(cut === null ? [] : [cut]),
		]);
}

export interface SdkRunning<Settings extends HostLimits> extends HostRunning<AnswerKind> {
	readonly client: SdkActor;
	readonly settings: Settings;
}

/** Whether something of a session waits for its model, for the client, or for time: `retry` is the notice of that. */
export function waits(
	{ client, provider }: SdkRunning<HostLimits>,
	{ id, model }: { readonly id: string; readonly model: string },
	retry: string,
): boolean {
	if (provider.gate(model).isWaiting()) return true;
	if (openOf(client, id).length > 0) return true;
	const ends = client.sent.flatMap(({ method, params, response }) =>
		method === "prompt" && sessionOf(params) === id && response?.message["result"] !== undefined ? [response.at] : [],
	);
	const since = Math.max(client.timePassedAt, ...ends);
	return client.notices.some(
		({ at, method, params }) =>
			method === retry && [id, ""].includes(id === "" ? "" : sessionOf(params)) && at >= since,
	);
}

export const openOf = (client: SdkActor, id: string): readonly Interaction<AnswerKind>[] =>
	client.openInteractions().filter(({ params }) => [id, ""].includes(sessionOf(params)));
