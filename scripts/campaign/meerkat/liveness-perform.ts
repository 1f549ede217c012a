// What each action of an interleaving over many sessions does to client, models and time.
import type { ModelMove } from "../../../test/support/campaign-model.ts";
import type { Action, CallKind, ModelAnswer } from "./liveness-actions.ts";
import type { HostedClient, Sent, Slot } from "./liveness-client.ts";
import type { Running } from "./liveness-server.ts";

export const writtenPath = (callId: string): string => `/home/me/project/${callId}.txt`;
const question = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };

let calls = 0;

export function perform(action: Action, running: Running): void {
	const { client, provider } = running;
	switch (action.do) {
		case "create":
			create(running, action);
			return;
		case "turn":
		case "turns": {
			const id = sessionAt(client, action.session);
			if (id === null) return;
			for (const _ of action.do === "turn" ? [1] : [1, 2]) startTurn(client, id);
			return;
		}
		case "interrupt":
		case "archive":
		case "read": {
			const methods = { interrupt: "turn/interrupt", archive: "session/archive", read: "session/read" } as const;
			const id = sessionAt(client, action.session);
			if (id !== null) client.request(methods[action.do], { session_id: id });
			return;
		}
		case "list":
			client.request("session/list", {});
			return;
		case "model": {
			const slot = client.slots.at(action.session % Math.max(1, client.slots.length));
			if (slot === undefined) return;
			client.note(`${slot.model}: ${JSON.stringify(action.answer)}`);
			provider.gate(slot.model).push(toMoves(action.answer));
			return;
		}
		case "answer":
		case "answer-late": {
			const among = action.do === "answer" ? client.openInteractions() : client.closedInteractions();
			const interaction = among[action.which % Math.max(1, among.length)];
			if (interaction !== undefined) client.answer(interaction, action.how);
			return;
		}
		case "wait":
			passTime(running, action.seconds);
			return;
		case "pause":
			client.pause();
			return;
		case "resume":
			client.resume();
			return;
	}
}

export function passTime({ client, clock }: Running, seconds: number): void {
	client.note(`${seconds} s pass`);
	client.timePassedAt = client.transcript.length;
	clock.advance(seconds * 1000);
}

export function create(
	{ client }: Running,
	{ deferred, tools }: { readonly deferred: boolean; readonly tools: boolean },
): Slot {
	const model = `m${client.slots.length + 1}`;
	const sent = client.request("session/create", {
		prompt: `do ${client.sent.length + 1}`,
		model,
		provider: "p",
		enable_builtins: tools,
		...(deferred ? { initial_turn: "deferred" } : {}),
	});
	const slot: Slot = { model, createId: sent.id, sessionId: null };
	client.slots.push(slot);
	return slot;
}

export function startTurn(client: HostedClient, id: string): Sent {
	return client.request("turn/start", { session_id: id, prompt: `do ${client.sent.length + 1}` });
}

/** The n-th session whose id is known; null when there is none. */
function sessionAt({ slots }: HostedClient, n: number): string | null {
	const known = slots.flatMap(({ sessionId }) => sessionId ?? []);
	return known.at(n % Math.max(1, known.length)) ?? null;
}

function toMoves({ words, calls: kinds, end }: ModelAnswer): readonly ModelMove[] {
	const said = Array.from({ length: words }, (): ModelMove => ({ kind: "say", text: "word " }));
	const ends: Readonly<Record<ModelAnswer["end"], readonly ModelMove[]>> = {
		done: [{ kind: "done", counted: true }],
		break: [{ kind: "break" }],
		refuse: [{ kind: "fail", failure: "status", status: 400 }],
		lose: [{ kind: "fail", failure: "connection", status: null }],
		hang: [],
	};
	return [...said, ...kinds.map(toCall), ...ends[end]];
}

function toCall(kind: CallKind): ModelMove {
	calls += 1;
	const id = `call-${calls}`;
	const call = (name: string, value: object): ModelMove => ({
		kind: "call",
		id,
		name,
		arguments: JSON.stringify(value),
	});
	switch (kind) {
		case "write":
			return call("WriteFile", { path: writtenPath(id), content: "written" });
		case "ask":
			return call("AskUserQuestion", { questions: [question] });
		case "paint":
			return call("paint", { colour: "blue" });
		case "unknown":
			return call("Nothing", {});
		case "broken":
			return { kind: "call", id, name: "WriteFile", arguments: '{"path":' };
	}
}
