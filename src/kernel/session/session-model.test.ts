// The model that is chosen for a session while it is loaded: what follows it, from when on, and what is stored.
import { describe, expect, it } from "vitest";
import { call, createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { chosenModel, createQuietParts, noWeb } from "../../../test/support/sessions/session-doubles.ts";
import {
	type ClientDouble,
	createSessionSubject,
	type SessionSubject,
} from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble } from "../../../test/support/store/failing-session.ts";
import type { UserInput } from "../../api/values/content.ts";
import { KernelError } from "../../base/errors.ts";
import type { Model } from "../../core/models/model.ts";
import { createAgent } from "../../core/tools/agent.ts";
import type { ModelChange, PreparedChange } from "./session-model.ts";
import type { SessionParts } from "./session-parts.ts";

const usage = { input_other: 10, output: 1, input_cache_read: 0, input_cache_creation: 0 };
const image: UserInput = [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==", id: null } }];
const start = ({ session }: SessionSubject, input: UserInput = "hi") => session.send({ type: "turn.start", input });
const set = ({ session }: SessionSubject, change: Partial<ModelChange>) =>
	session.send({ type: "model.set", model: null, thinking: null, ...change });
const named = (model: Model, name: string, fields: Partial<Model> = {}): Model => ({ ...model, name, ...fields });

/** Chooses the model of this alias; the others cannot be chosen. */
function offer(models: Readonly<Record<string, Model>>): SessionParts["models"] {
	return {
		options: async () => [],
		async prepare({ model: alias, thinking }): Promise<PreparedChange> {
			const model = models[alias ?? ""];
			if (model === undefined) throw new KernelError("model-not-set", "no such model");
			const choice = { alias, name: model.name, provider: "p", thinking: thinking === true };
			return { chosen: { ...chosenModel(model), choice }, creationOptions: { model: alias, thinking }, take() {} };
		},
	};
}

async function endOf(client: ClientDouble) {
	return (await client.next("turn.ended")).outcome;
}

describe("another model", () => {
	it("counts from the next turn on, is stored, and is reported once", async () => {
		const gate = createModelGate();
		const first = createScriptedModel([
			[say("one"), call("c1", "E"), gate, done()],
			[say("two"), done()],
		]);
		const second = createScriptedModel([[say("three"), done()]]);
		const subject = await createSessionSubject(first, [createToolDouble("E")], {
			models: offer({ k2: named(second, "second") }),
		});
		const client = subject.attach();
		await start(subject);
		await gate.reached;
		const choice = { alias: "k2", name: "second", provider: "p", thinking: true };
		expect(await set(subject, { model: "k2", thinking: true })).toEqual(choice);
		expect((await subject.session.snapshot()).model).toEqual(choice);
		expect(await set(subject, {})).toEqual(choice);
		expect(await set(subject, { model: "k2", thinking: true })).toEqual(choice);
		gate.open();
		await endOf(client);
		expect([first.requests.length, second.requests.length]).toEqual([2, 0]);
		await start(subject, "more");
		await endOf(client);
		expect([first.requests.length, second.requests.length]).toEqual([2, 1]);
		expect(client.bodies.filter(({ type }) => type === "model.changed")).toEqual([
			{ type: "model.changed", model: choice },
		]);
		expect(subject.double.stored.state().creationOptions).toEqual({ model: "k2", thinking: true });
	});

	it("decides what inputs may contain, the context window, and which tools there are", async () => {
		const first = createScriptedModel([[say("one"), done(usage)]]);
		const second = createScriptedModel([[say("two"), done(usage)]]);
		const seeing = named(second, "second", { capabilities: new Set(["image_in"]), maxContextSize: 1000 });
		const subject = await createSessionSubject(first, [], {
			createTools: async ({ media }) => [createToolDouble(media.takesImages ? "Look" : "Blind")],
			models: offer({ k2: seeing }),
		});
		const client = subject.attach();
		await start(subject);
		await endOf(client);
		await start(subject, image);
		expect(await endOf(client)).toMatchObject({ status: "failed", error: { code: "capability-missing" } });
		await set(subject, { model: "k2" });
		await start(subject, image);
		expect(await endOf(client)).toEqual({ status: "finished" });
		const windows = client.bodies.flatMap((body) => (body.type === "status.changed" ? [body.max_context_tokens] : []));
		expect(windows).toEqual([first.maxContextSize, 1000]);
		expect([first, second].map(({ requests }) => requests[0]?.tools.map(({ name }) => name))).toEqual([
			["Blind"],
			["Look"],
		]);
	});

	it("answers side questions and compacts the context", async () => {
		const gate = createModelGate();
		const first = createScriptedModel([
			[say("none"), done()],
			[say("one"), gate, done()],
		]);
		const second = createScriptedModel([
			[say("because"), done()],
			[say("summary"), done()],
		]);
		const subject = await createSessionSubject(first, [], { models: offer({ k2: second }) });
		const client = subject.attach();
		await start(subject);
		await endOf(client);
		await start(subject);
		await gate.reached;
		await set(subject, { model: "k2" });
		await subject.session.send({ type: "side-question.start", question: "why?" });
		expect((await client.next("side-question.ended")).response).toBe("because");
		gate.open();
		await endOf(client);
		await start(subject, "/compact");
		await client.next("compaction.ended");
		await endOf(client);
		expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
	});

	it("is that of subagents without a model of their own, from the next turn on", async () => {
		const gate = createModelGate();
		const agentCall = (id: string) => call(id, "Agent", '{"description":"d","prompt":"look","subagent_type":"coder"}');
		const report = "x".repeat(250);
		const first = createScriptedModel([
			[agentCall("c1"), gate, done()],
			[say(report), done()],
			[say("ok"), done()],
		]);
		const second = createScriptedModel([
			[agentCall("c2"), done()],
			[say(report), done()],
			[say("ok"), done()],
		]);
		const double = await createSessionDouble();
		const quiet = createQuietParts(double.stored);
		const type = { name: "coder", whenToUse: "x", toolPaths: [], model: null, role: "", startsWithGit: false };
		const subject = await createSessionSubject(
			first,
			[],
			{
				createTools: async ({ agents, media }) =>
					agents === null ? [] : [createAgent(agents, { media, tasks: null, web: noWeb })],
				subagents: { ...quiet.subagents, types: [type] },
				models: offer({ k2: second }),
			},
			double,
		);
		const client = subject.attach();
		await start(subject);
		await gate.reached;
		await set(subject, { model: "k2" });
		gate.open();
		// That of the subagent, then that of the session.
		await endOf(client);
		await endOf(client);
		expect([first.requests.length, second.requests.length]).toEqual([3, 0]);
		await start(subject);
		await endOf(client);
		await endOf(client);
		expect([first.requests.length, second.requests.length]).toEqual([3, 3]);
	});

	it("changes nothing when it cannot be chosen", async () => {
		const subject = await createSessionSubject(createScriptedModel([]), [], { models: offer({}) });
		const client = subject.attach();
		const before = await subject.session.snapshot();
		await expect(set(subject, { model: "k2" })).rejects.toMatchObject({ code: "model-not-set" });
		await client.attachment.drained();
		expect([(await subject.session.snapshot()).model, client.bodies]).toEqual([before.model, []]);
	});

	it("can be chosen for a session that had none", async () => {
		const second = createScriptedModel([[say("two"), done()]]);
		const subject = await createSessionSubject(null, [], { models: offer({ k2: second }) });
		const client = subject.attach();
		await expect(set(subject, {})).rejects.toMatchObject({ code: "model-not-set" });
		await start(subject);
		expect(await endOf(client)).toMatchObject({ status: "failed", error: { code: "model-not-set" } });
		await set(subject, { model: "k2" });
		await start(subject);
		expect(await endOf(client)).toEqual({ status: "finished" });
	});
});
