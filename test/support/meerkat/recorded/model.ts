// The model of the recorded conversations, as Anthropic's messages API on loopback: prompts are commands, listed in
// test/fixtures/meerkat-0.9/README.md.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import {
	type AnswerRequest,
	type ProviderServer,
	sendJson,
	startProviderServer,
} from "../../models/provider-server.ts";

interface Message {
	readonly role: string;
	readonly content: unknown;
}

interface ModelRequest {
	readonly model: string;
	readonly messages: readonly Message[];
	readonly system?: unknown;
	readonly tools?: readonly { readonly name: string }[];
}

/** Tools of upstream's and those of ours that do the same, so that the recorded calls have a tool to call. */
const toolNames: Readonly<Record<string, string>> = { shell: "Shell", datetime: "SetTodoList" };

/** Milliseconds between the pieces of a slow answer. */
const slowness = 50;

type Block = Readonly<Record<string, unknown>>;

export async function startRecordedModel(): Promise<ProviderServer> {
	let calls = 0;
	return await startProviderServer((body) => {
		calls += 1;
		return answerOf(body as ModelRequest, calls);
	});
}

function answerOf(request: ModelRequest, count: number): AnswerRequest {
	const last = request.messages.findLast(({ role }) => role === "user");
	const results = blocksOf(last?.content).filter(({ type }) => type === "tool_result");
	if (results.length > 0) {
		return stream([text([`tool said: ${results.map((each) => plain(each["content"])).join("\n")}`])]);
	}
	const prompt = plain(last?.content).split("\n").at(-1) ?? "";
	const [, command = "", rest = ""] = /^(\S+) ?(.*)$/s.exec(prompt) ?? [];
	switch (command) {
		case "ECHO":
			return stream([text([rest])]);
		case "JSON":
			return stream([text([rest])]);
		case "THINK":
			return stream([thinking(rest), text(["thought"])]);
		case "SLOW":
			return stream([text(pieces(Number.parseInt(rest, 10)))], slowness);
		case "MANY":
			return stream([text(pieces(Number.parseInt(rest, 10)))]);
		case "HANG":
			return async (response) => {
				await once(response, "close");
			};
		case "FAIL":
			return sendJson(Number(rest), {}, { type: "error", error: { type: "api_error", message: `failing ${rest}` } });
		case "CALL":
		case "CALL2": {
			const uses = [...rest.matchAll(/(\w+) (\{.*?\})(?= |$)/g)].map(([, name = "", json = ""], index) =>
				toolUse(`tu${count}${index === 0 ? "" : index}`, name, json),
			);
			return stream(uses.length === 0 ? [text(["po", "ng"])] : uses);
		}
		case "RECALL":
			return stream([text([request.messages.flatMap(userText).join(" | ")])]);
		case "ROLES?":
			return stream([text([python(request.messages.map(({ role, content }) => [role, plain(content)]))])]);
		case "SYSTEM?":
			return stream([text([plain(request.system)])]);
		case "TOOLS?":
			return stream([
				text([
					(request.tools ?? [])
						.map(({ name }) => name)
						.sort()
						.join(","),
				]),
			]);
		case "BODY?": {
			const rows = Object.entries(request).filter(([name]) => !["messages", "system", "tools"].includes(name));
			return stream([text([python(Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1))))])]);
		}
		default:
			return stream([text(["po", "ng"])]);
	}
}

const pieces = (count: number) => Array.from({ length: count }, (_, index) => `c${index} `);

function userText({ role, content }: Message): string[] {
	const said = plain(content);
	return role === "user" && said !== "" ? [said] : [];
}

function blocksOf(content: unknown): readonly Block[] {
	return Array.isArray(content) ? content : [];
}

/** The text of a content; images are named. */
function plain(content: unknown): string {
	if (typeof content === "string") return content;
	return blocksOf(content)
		.map(({ type, text: said }) => (type === "image" ? "<image>" : String(said ?? "")))
		.join("\n");
}

/** JSON with the spaces that the recorded model set. */
function python(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value);
	return `{${Object.entries(value)
		.map(([key, each]) => `${JSON.stringify(key)}: ${python(each)}`)
		.join(", ")}}`;
}

interface Part {
	readonly start: Block;
	readonly deltas: readonly Block[];
}

const text = (deltas: readonly string[]): Part => ({
	start: { type: "text", text: "" },
	deltas: deltas.map((each) => ({ type: "text_delta", text: each })),
});

const thinking = (said: string): Part => ({
	start: { type: "thinking", thinking: "", signature: "" },
	deltas: [
		{ type: "thinking_delta", thinking: said },
		{ type: "signature_delta", signature: "c2ln" },
	],
});

const toolUse = (id: string, name: string, json: string): Part => ({
	start: { type: "tool_use", id, name: toolNames[name] ?? name, input: {} },
	deltas: [{ type: "input_json_delta", partial_json: json }],
});

function stream(parts: readonly Part[], milliseconds = 0): AnswerRequest {
	return async (response) => {
		const send = (event: Block) => response.write(`event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`);
		response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
		const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
		send({ type: "message_start", message: { ...message, usage: { input_tokens: 5, output_tokens: 1 } } });
		for (const [index, { start, deltas }] of parts.entries()) {
			send({ type: "content_block_start", index, content_block: start });
			for (const delta of deltas) {
				send({ type: "content_block_delta", index, delta });
				if (milliseconds > 0) await pause(milliseconds);
				if (response.destroyed) return;
			}
			send({ type: "content_block_stop", index });
		}
		const isCalling = parts.some(({ start }) => start["type"] === "tool_use");
		send({
			type: "message_delta",
			delta: { stop_reason: isCalling ? "tool_use" : "end_turn", stop_sequence: null },
			usage: { output_tokens: 7 },
		});
		send({ type: "message_stop" });
		response.end();
	};
}
