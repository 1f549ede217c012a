// What the Go SDK does and needs: a decoder that takes one message after the other, string ids counted up, a
// `cancel` after every turn, and settings as JSON on the command line.
import { describe, expect, it } from "vitest";
import { isRecord } from "../../src/base/json.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { isResponse, outline, type Server, type ServerLine } from "../support/executable/running-server.ts";

/** The event types its decoder knows; any other ends it. */
const knownEvents = new Set([
	"TurnBegin",
	"TurnEnd",
	"StepBegin",
	"StepInterrupted",
	"CompactionBegin",
	"CompactionEnd",
	"StatusUpdate",
	"ContentPart",
	"ToolCall",
	"ToolCallPart",
	"ToolResult",
	"SubagentEvent",
	"ApprovalRequestResolved",
	"ApprovalResponse",
]);

/** A client that is as strict as the Go SDK: one message after the other, and none it does not know. */
class StrictClient {
	readonly lines: ServerLine[] = [];
	readonly #server: Server;
	#lastId = 0;

	constructor(server: Server) {
		this.#server = server;
	}

	/** Sends the next request and gives its id. */
	request(method: string, params: unknown): string {
		this.#lastId += 1;
		const id = String(this.#lastId);
		this.#server.request(id, method, params);
		return id;
	}

	/** Takes messages in order, answering approvals and tool calls where they stand, up to one that fits. */
	async handle(fits: (line: ServerLine) => boolean, decision: "approve" | "reject" = "approve"): Promise<ServerLine> {
		for (;;) {
			const line = await this.#server.read();
			if (line === null) throw new Error(`The server closed its output.\n${this.#server.stderr}`);
			this.lines.push(line);
			this.#check(line);
			if (line.params?.type === "ApprovalRequest") this.#server.decide(line, decision);
			if (line.params?.type === "ToolCallRequest") this.#answerCall(line);
			if (fits(line)) return line;
		}
	}

	/** A prompt as the SDK runs one: `cancel` goes out with `TurnEnd`, before the response is looked for. */
	async turn(text: string, decision: "approve" | "reject" = "approve") {
		const prompt = this.request("prompt", { user_input: text });
		const answers = new Map<string, ServerLine>();
		let cancel: string | null = null;
		while (cancel === null || answers.size < 2) {
			const line = await this.handle(() => true, decision);
			if (line.params?.type === "TurnEnd") cancel = this.request("cancel", {});
			if (line.method === undefined && typeof line.id === "string") answers.set(line.id, line);
		}
		return { prompt: answers.get(prompt), cancel: answers.get(cancel) };
	}

	#check(line: ServerLine): void {
		expect(line).toHaveProperty("jsonrpc", "2.0");
		if (line.method === "event") expect(knownEvents).toContain(line.params?.type);
		else expect(line.id).toEqual(expect.any(String));
		if (line.method === "request") expect(line.params?.payload["id"]).toBe(line.id);
	}

	#answerCall(line: ServerLine): void {
		const { id } = line;
		expect(line.params?.payload["arguments"]).toEqual(expect.any(String));
		const return_value = { is_error: false, output: "from the client", message: "", display: [] };
		this.#server.answer(id ?? "", { tool_call_id: id, return_value });
	}
}

const plainTurn = ["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd"];

describe("a client like the Go SDK", () => {
	it("starts the server, then asks for versions, then shakes hands; nothing precedes the answer", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--config", stage.configText);
		const info = await stage.run("info", "--json");
		const { wire_protocol_version } = JSON.parse(info.stdout + info.stderr);
		expect(wire_protocol_version >= "1.1").toBe(true);
		const client = new StrictClient(server);
		const id = client.request("initialize", { protocol_version: wire_protocol_version });
		await client.handle((line) => isResponse(line, id));
		expect(client.lines).toEqual([
			{
				jsonrpc: "2.0",
				id: "1",
				result: {
					protocol_version: "1.10",
					server: { name: "agentwire", version: expect.any(String) },
					slash_commands: expect.any(Array),
					hooks: { supported_events: expect.any(Array), configured: {} },
					capabilities: { supports_question: true },
				},
			},
		]);
	});

	it("gets `finished` for every prompt although it sends `cancel` after every TurnEnd", async () => {
		const turns = 20;
		const stage = createStage({ scripts: Array.from({ length: turns }, (_, n) => `text: answer ${n}`) });
		const client = new StrictClient(stage.serve("--wire", "--config", stage.configText));
		for (let n = 0; n < turns; n += 1) {
			client.lines.length = 0;
			const { prompt, cancel } = await client.turn(`question ${n}`);
			expect(prompt?.result).toEqual({ status: "finished" });
			expect(cancel?.result ?? cancel?.error?.code).toSatisfy((answer) => answer === -32000 || isEmptyObject(answer));
			expect(outline(client.lines.filter(({ method }) => method !== undefined))).toEqual(plainTurn);
		}
	});

	it("answers approvals and calls of its own tools in between", async () => {
		const stage = createStage({
			scripts: [
				toolCall("call-1", "Shell", { command: "echo hi" }),
				'tool_call: {"id":"call-2","name":"lookup","arguments":null}',
				"text: done",
			],
		});
		const client = new StrictClient(stage.serve("--wire", "--config", stage.configText));
		const external_tools = [{ name: "lookup", description: "Looks up.", parameters: { type: "object" } }];
		const id = client.request("initialize", { protocol_version: "1.10", external_tools });
		const { result } = await client.handle((line) => isResponse(line, id));
		expect(result?.["external_tools"]).toEqual({ accepted: ["lookup"], rejected: [] });
		const { prompt } = await client.turn("hi");
		expect(prompt?.result).toEqual({ status: "finished" });
		const results = client.lines.filter(({ params }) => params?.type === "ToolResult");
		expect(results.map(({ params }) => params?.payload)).toMatchObject([
			{ tool_call_id: "call-1", return_value: { is_error: false, output: "hi\n", display: expect.any(Array) } },
			{ tool_call_id: "call-2", return_value: { is_error: false, output: "from the client", display: [] } },
		]);
	});

	it("understands the step limit by its old name and capabilities as an object", async () => {
		const scripts = ["1", "2", "3"].map((id) => toolCall(id, "SetTodoList", { todos: [] }));
		const stage = createStage({ scripts, modelSettings: { capabilities: { thinking: true, image_in: false } } });
		const config = { ...JSON.parse(stage.configText), loop_control: { max_steps_per_run: 2 } };
		const client = new StrictClient(stage.serve("--wire", "--thinking", "--config", JSON.stringify(config)));
		const { prompt } = await client.turn("hi");
		expect(prompt?.result).toEqual({ status: "max_steps_reached", steps: 2 });
		const image = [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }];
		const id = client.request("prompt", { user_input: image });
		expect(await client.handle((line) => isResponse(line, id))).toMatchObject({ error: { code: -32002 } });
	});

	it("gets an error with a TurnEnd before it when the model fails", async () => {
		const stage = createStage({ scripts: [] });
		const client = new StrictClient(stage.serve("--wire", "--config", stage.configText));
		const { prompt } = await client.turn("hi");
		expect(prompt?.error).toMatchObject({ code: -32003, message: "ScriptedEchoChatProvider exhausted at turn 1." });
	});

	it("approves by itself with --auto-approve", async () => {
		const stage = createStage({ scripts: [toolCall("1", "Shell", { command: "echo hi" }), "text: done"] });
		const client = new StrictClient(stage.serve("--wire", "--auto-approve", "--config", stage.configText));
		await client.turn("hi");
		expect(outline(client.lines)).not.toContain("ApprovalRequest");
		expect(outline(client.lines)).toContain("ToolResult");
	});

	it("never receives an event it does not know under AGENTWIRE_EVENTS=1.2, whatever happens", async () => {
		const report = `All is well. ${"The file holds three lines, and the command that counts them agrees. ".repeat(4)}`;
		const stage = createStage({
			scripts: [
				toolCall("call-1", "Shell", { command: "echo hi" }),
				"error: 503 busy",
				toolCall("call-2", "Agent", { description: "count", prompt: "Count the lines" }),
				toolCall("sub-1", "Shell", { command: "echo from below" }),
				"error: 503 busy",
				`text: ${report}`,
				"text: done",
				"text: beside",
			],
		});
		const hooks = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"].map((event) => ({
			event,
			command: "exit 0",
		}));
		const config = JSON.stringify({ ...JSON.parse(stage.configText), hooks });
		const server = stage.serveWith({ AGENTWIRE_EVENTS: "1.2" }, "--wire", "--session", "s", "--config", config);
		const client = new StrictClient(server);
		const hand = client.request("initialize", { protocol_version: "1.10" });
		await client.handle((line) => isResponse(line, hand));
		const { prompt } = await client.turn("hi");
		expect(prompt?.result).toEqual({ status: "finished" });
		const delivered = client.lines.flatMap(({ method, params }) =>
			method === "event" && params !== undefined ? [params] : [],
		);
		expect(delivered[0]?.type).toBe("TurnBegin");
		const wrapped = delivered.filter(({ type }) => type === "SubagentEvent").map(({ payload }) => payload);
		expect(wrapped.length).toBeGreaterThan(4);
		for (const payload of wrapped) {
			expect(payload).toMatchObject({ task_tool_call_id: "call-2", parent_tool_call_id: "call-2" });
			expect(payload["event"]).toSatisfy((event) => isRecord(event) && knownEvents.has(String(event["type"])));
		}
		client.lines.length = 0;
		const aside = await client.turn("/btw why?");
		expect(aside.prompt?.result).toEqual({ status: "finished" });
		expect(outline(client.lines.filter(({ method }) => method !== undefined))).toEqual([
			...["TurnBegin", "ContentPart", "TurnEnd"],
		]);
		const logged = stage.loggedTypes("s");
		for (const type of ["HookTriggered", "HookResolved", "StepRetry", "BtwBegin", "BtwEnd"]) {
			expect(logged).toContain(type);
		}
		const replay = client.request("replay", {});
		const { result } = await client.handle((line) => isResponse(line, replay));
		expect(result?.["status"]).toBe("finished");
		expect(Number(result?.["events"])).toBeLessThan(logged.length);
	});

	it("finds the whole turn in the log although it ends the server with SIGKILL", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "s", "--config", stage.configText);
		await new StrictClient(server).turn("hi");
		server.kill("SIGKILL");
		expect(await server.exited).toBeNull();
		expect(stage.loggedTypes("s")).toEqual(plainTurn);
		expect(stage.lastSessionId()).toBe("s");
	});
});

function isEmptyObject(value: unknown): boolean {
	return JSON.stringify(value) === "{}";
}
