// Frozen: the JSON examples of the documents that clients were written from. Every line of a client is sent as it stands
// there, every line of the server's is brought about, and what differs is listed. None is left out.
import * as v from "valibot";
import { describe, expect, it, onTestFinished } from "vitest";
import { questionItemSchema } from "../../src/api/values/interaction.ts";
import { silentLog } from "../../src/base/log.ts";
import { serve } from "../../src/frontends/serve/serve.ts";
import { createMemoryStore } from "../../src/ports/store/memory/memory-store.ts";
import { createMemoryTransport } from "../../src/ports/transports/memory.ts";
import { parseTranscript } from "../../src/testing/transcripts/format.ts";
import { differences, readExamples, toValue } from "../support/protocol/document-examples.ts";
import { createCountingIdentifiers, openSession } from "../support/transcripts/transcript-memory.ts";
import { preparePlace } from "../support/transcripts/transcript-place.ts";
import { createSniffer } from "../support/transcripts/transcript-sniffer.ts";

/** A server whose next asks get an id of our choice, as the examples have them. */
async function start(head: string, scripts: readonly string[] = []) {
	const sections = scripts.map((script) => `--- script\n${script}\n`);
	const transcript = parseTranscript("examples", `${head}\n${sections.join("\n")}`);
	const place = await preparePlace(transcript);
	const counting = createCountingIdentifiers();
	const ids = { next: "" };
	const identifiers = { ...counting, uuid: () => ids.next || counting.uuid() };
	const opened = await openSession(transcript, place, createMemoryStore(), identifiers);
	const { transport, client } = createMemoryTransport(1_000_000, 262_144);
	const serving = serve({
		transport,
		session: opened.session,
		compatibility: opened.compatibility,
		server: { name: "agentwire", version: "0" },
		log: silentLog,
		signal: new AbortController().signal,
	});
	onTestFinished(async () => {
		client.end();
		await serving.finish();
		await opened.close();
		await place.remove();
	});
	const sniffer = createSniffer();
	const read = async (): Promise<Record<string, unknown>> => {
		const line = await opened.idleClock.whileIdle(client.read());
		if (line === null) throw new Error("the server is gone");
		sniffer.received(line);
		return JSON.parse(line);
	};
	return {
		ids,
		send(example: string) {
			sniffer.sent(example);
			client.write(`${example.replaceAll("\n", " ")}\n`);
		},
		read,
		/** Reads on to the first line that has all of this text. */
		async find(...texts: readonly string[]) {
			for (;;) {
				const line = await read();
				if (texts.every((text) => JSON.stringify(line).includes(text))) return line;
			}
		},
	};
}

/** The examples of a document by number, and which of them were not asked for. */
function createExamples(document: string) {
	const texts = readExamples(document);
	const left = new Set(texts.keys());
	return {
		left,
		get(number: number, start: string): string {
			const text = texts[number] ?? "";
			expect([number, text.includes(start)]).toEqual([number, true]);
			left.delete(number);
			return text;
		},
	};
}

const call = (id: string, name: string, value: object) =>
	`tool_call: ${JSON.stringify({ id, name, arguments: JSON.stringify(value) })}`;

/** What approvals have besides since 1.6; null or absent, says the document of 1.7. */
const laterOfApproval = ["source_kind", "source_id", "agent_id", "subagent_type", "source_description"].map(
	(field) => `+params.payload.${field}`,
);
/** Some examples have an id of the request and another in its payload; with us they are the same. */
const sameId = "params.payload.id";
/** Ours always have data. */
const data = "+error.data";

describe.each([
	{
		version: "1.1",
		document: "wire-1.1",
		handshake: ["+result.hooks", "+result.capabilities"],
		numbers: { initialize: 0, prompt: 2, cancel: 5, event: 8, approval: 9, tool: 11 },
	},
	{
		version: "1.7",
		document: "wire-1.7",
		handshake: ["+result.hooks"],
		numbers: { initialize: 0, prompt: 2, cancel: 13, event: 16, approval: 17, tool: 19 },
	},
])("the examples of Wire $version", ({ document, handshake, numbers }) => {
	const examples = createExamples(document);
	const { get } = examples;

	it("say that there is no model", async () => {
		const server = await start("with: no model");
		server.send(get(numbers.prompt, '"prompt"'));
		const answer = await server.find('"error"');
		expect(differences(answer, toValue(get(numbers.prompt + 2, "LLM is not set")))).toEqual([data]);
	});

	it("say that no turn is in progress", async () => {
		const server = await start("");
		server.send(get(numbers.cancel, '"cancel"'));
		const refusal = toValue(get(numbers.cancel + 2, "No agent turn is in progress"));
		expect(differences(await server.read(), refusal)).toEqual([data]);
	});

	it("are a conversation", async () => {
		const approval = get(numbers.approval, "ApprovalRequest");
		const tool = get(numbers.tool, "ToolCallRequest");
		const server = await start("", [
			`text: Hello\n${call("tc-1", "Shell", { command: "ls" })}`,
			call(idOf(tool), "open_in_ide", { path: "README.md" }),
			"text: done",
			call("tc-1", "Shell", { command: "ls" }),
		]);
		server.send(get(numbers.initialize, '"initialize"'));
		const shaken = await server.read();
		expect(differences(shaken, toValue(get(numbers.initialize + 1, '"result"'))).sort()).toEqual(
			[
				...handshake,
				"result.protocol_version",
				"result.server.name",
				"result.server.version",
				"result.slash_commands",
			].sort(),
		);

		server.ids.next = idOf(approval);
		server.send(get(numbers.prompt, '"prompt"'));
		const delivered = await server.find('"ContentPart"');
		expect(differences(delivered, toValue(get(numbers.event, '"event"')))).toEqual([]);
		const asked = await server.find('"ApprovalRequest"');
		expect(differences(asked, toValue(approval)).sort()).toEqual(
			[
				"params.payload.action",
				// It also says what an approval for the session would cover.
				"params.payload.display",
				sameId,
				...laterOfApproval,
			].sort(),
		);
		server.send(get(numbers.approval + 1, '"approve"'));
		expect(await server.find('"ApprovalResponse"')).toMatchObject({ params: { payload: { response: "approve" } } });

		const called = await server.find('"ToolCallRequest"');
		expect(differences(called, toValue(tool))).toEqual([sameId]);
		server.send(get(numbers.tool + 1, '"return_value"'));
		expect(await server.find('"ToolResult"', idOf(tool))).toMatchObject({
			params: { payload: { return_value: { is_error: false, output: "Opened", message: "Opened README.md in IDE" } } },
		});
		const finished = await server.find('"result"', '"finished"');
		expect(differences(finished, toValue(get(numbers.prompt + 1, '"finished"')))).toEqual([]);

		server.send(get(numbers.prompt, '"prompt"'));
		await server.find('"ApprovalRequest"');
		server.send(get(numbers.cancel, '"cancel"'));
		const cancelled = await server.find('"result":{}');
		expect(differences(cancelled, toValue(get(numbers.cancel + 1, '"result": {}')))).toEqual([]);
		expect(await server.find('"TurnEnd"')).toMatchObject({ method: "event", params: { type: "TurnEnd" } });
		expect(await server.read()).toMatchObject({ result: { status: "cancelled" } });
	});

	const goOn = async () => {
		const question = get(21, "QuestionRequest");
		const asking = call("tc-1", "AskUserQuestion", { questions: questionsOf(question) });
		const server = await start("", [asking, asking, "text: done"]);
		server.send(get(7, '"steer"'));
		expect(differences(await server.read(), toValue(get(9, "No agent turn is in progress")))).toEqual([data]);
		server.send(get(10, '"set_plan_mode"'));
		expect(await server.read()).toMatchObject({ params: { type: "StatusUpdate", payload: { plan_mode: true } } });
		expect(differences(await server.read(), toValue(get(11, '"plan_mode"')))).toEqual([]);

		server.send(get(numbers.initialize, '"initialize"'));
		await server.read();
		server.ids.next = idOf(question);
		server.send(get(numbers.prompt, '"prompt"'));
		const asked = await server.find('"QuestionRequest"');
		const undocumented = ["body", "other_label", "other_description"];
		expect(differences(asked, toValue(question))).toEqual([
			sameId,
			...undocumented.map((field) => `+params.payload.questions[0].${field}`),
		]);
		server.send(get(7, '"steer"'));
		expect(differences(await server.read(), toValue(get(8, '"steered"')))).toEqual([]);
		server.send(get(22, '"Python"'));
		expect(await server.find('"ToolResult"', "Python")).toMatchObject({
			params: { payload: { return_value: { is_error: false, message: "User has answered." } } },
		});
		await server.find('"QuestionRequest"');
		server.send(get(23, '"answers": {}'));
		expect(await server.find('"ToolResult"', "User dismissed")).toMatchObject({
			params: { payload: { return_value: { is_error: false, display: [{ type: "brief", text: "User dismissed" }] } } },
		});
		await server.find('"finished"');

		server.send(get(5, '"replay"'));
		const replayed = await server.find('"events"', '"requests"');
		expect(differences(replayed, toValue(get(6, '"events"')))).toEqual(["result.events", "result.requests"]);
	};
	if (document === "wire-1.7") it("go on with what came after 1.1", goOn);

	const refuse = async () => {
		const tools = ["plan:ExitPlanMode", "plan.enter:EnterPlanMode"].map((name) => `"kimi_cli.tools.${name}"`);
		const agent = `--- file agent.yaml\nagent:\n  extend: default\n  exclude_tools: [${tools.join(", ")}]\n`;
		const server = await start(`with: agent file agent.yaml\n\n${agent}`);
		server.send(get(10, '"set_plan_mode"'));
		expect(differences(await server.read(), toValue(get(12, "Plan mode is not supported")))).toEqual([data]);
	};
	if (document === "wire-1.7") it("refuse plan mode to an agent without tools for it", refuse);

	it("were all of them played", () => {
		expect([...examples.left]).toEqual([]);
	});
});

describe("the examples of Wire 1.0", () => {
	const examples = createExamples("wire-1.0");
	const { get } = examples;

	it("show the form of a message", async () => {
		const form = toValue(get(0, "{...}"));
		const server = await start("", ["text: Hello"]);
		server.send(JSON.stringify(form));
		server.send('{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"go"}}');
		const { params, ...delivered } = await server.read();
		expect(differences({ ...delivered, params: {} }, form)).toEqual(["method"]);
		expect(params).toHaveProperty("type", "TurnBegin");
	});

	it("are a conversation, with the names that they have", async () => {
		const request = get(2, "ApprovalRequest");
		const server = await start('agentwire: {"typed_parts":true,"former_names":true}', [
			`text: Hello\n${call("c1", "Shell", { command: "echo one" })}`,
			call("c2", "Shell", { command: "echo two" }),
			"text: done",
		]);
		server.ids.next = idOf(request);
		server.send('{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"go"}}');
		const delivered = await server.find('"Hello"');
		expect(differences(delivered, toValue(get(1, "TextPart")))).toEqual(["+params.payload.type"]);
		const asked = await server.find('"ApprovalRequest"');
		expect(differences(asked, toValue(request)).map((path) => path.replace(/^(\+params\.payload)\..*/, "$1"))).toEqual(
			Array.from({ length: 11 }, () => "+params.payload"),
		);
		server.ids.next = "...";
		server.send('{"jsonrpc":"2.0","id":"req-1","result":{"request_id":"req-1","response":"approve"}}');
		const answer = get(3, "ApprovalRequestResolved");
		await server.find('"ApprovalRequest"', '"c2"');
		server.send(answer);
		const decided = await server.find('"ApprovalRequestResolved"', '"..."');
		expect(differences(decided, toValue(answer))).toEqual(["+params.payload.feedback"]);
		expect(await server.find('"ToolResult"')).toMatchObject({
			params: { payload: { tool_call_id: "c2", return_value: { output: "two\n" } } },
		});
		await server.find('"finished"');
		expect([...examples.left]).toEqual([]);
	});
});

describe("the examples of the legacy dialect", () => {
	const examples = createExamples("legacy");
	const { get } = examples;

	it("are a conversation", async () => {
		const server = await start("", [call("c1", "Shell", { command: "echo one" }), "text: done"]);
		server.send(get(1, '"interrupt"'));
		expect(await server.read()).toMatchObject({ result: { status: "idle" } });
		const request = get(2, '"approval"');
		server.ids.next = idOf(request);
		server.send(get(0, '"run"'));
		const asked = await server.find('"approval"');
		expect(differences(asked, toValue(request))).toEqual(
			["tool_call_id", "sender", "action", "description"].map((field) => `params.payload.${field}`),
		);
		server.send(get(3, '"approve"'));
		expect(await server.find('"tool_result"')).toMatchObject({ params: { payload: { ok: true } } });
		expect(await server.find('"finished"')).toEqual({
			jsonrpc: "2.0",
			id: "<request-id>",
			result: { status: "finished" },
		});
		expect([...examples.left]).toEqual([]);
	});
});

function idOf(example: string): string {
	return /"id": "([^"]+)"/.exec(example)?.[1] ?? "";
}

function questionsOf(example: string) {
	const request = v.object({
		params: v.object({ payload: v.object({ questions: v.array(questionItemSchema) }) }),
	});
	return v.parse(request, toValue(example)).params.payload.questions;
}
