// A chat completions server on loopback that answers with a scenario's scripts.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { ModelPart } from "../../core/models/model.ts";
import { parseEchoScript } from "../../core/models/scripted/echo-language.ts";
import { EchoScriptError } from "../../core/models/scripted/echo-payload.ts";

export interface LoopbackModel {
	/** The base URL, in the form of `OPENAI_BASE_URL`. */
	readonly url: string;
	/** Restarts with the first script. */
	restart(): void;
	close(): void;
}

/** Answers each request with the next script; later requests fail with status 400. */
export async function startLoopbackModel(scripts: readonly string[]): Promise<LoopbackModel> {
	let asked = 0;
	const server = createServer(async (request, response) => {
		for await (const _ of request);
		if (!request.url?.endsWith("/chat/completions")) {
			fail(response, 404, "This model answers /chat/completions only.");
			return;
		}
		const script = scripts[asked];
		asked += 1;
		if (script === undefined) fail(response, 400, "The scenario has no further answer.");
		else answer(response, script);
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	const port = typeof address === "object" && address !== null ? address.port : 0;
	return {
		url: `http://127.0.0.1:${port}/v1`,
		restart() {
			asked = 0;
		},
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}

function fail(response: ServerResponse, status: number, message: string): void {
	response.writeHead(status, { "content-type": "application/json" });
	response.end(JSON.stringify({ error: { message, type: "error", code: null } }));
}

function answer(response: ServerResponse, script: string): void {
	try {
		const { parts, end } = parseEchoScript(script);
		const chunk = (delta: object, finish: string | null) =>
			`data: ${JSON.stringify({
				...{ id: "chatcmpl-scenario", object: "chat.completion.chunk", created: 0, model: "scenario" },
				choices: [{ index: 0, delta, finish_reason: finish }],
			})}\n\n`;
		const deltas = toDeltas(parts);
		const calls = parts.some(({ type }) => type === "function");
		const finish = end?.kind === "truncated" ? "length" : calls ? "tool_calls" : "stop";
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(`${deltas.map((delta) => chunk(delta, null)).join("")}${chunk({}, finish)}data: [DONE]\n\n`);
	} catch (thrown) {
		if (!(thrown instanceof EchoScriptError)) throw thrown;
		const { kind, statusCode, message } = thrown.failure;
		if (kind === "connection") response.destroy();
		else fail(response, statusCode ?? 400, message);
	}
}

function toDeltas(parts: readonly ModelPart[]): readonly object[] {
	let call = -1;
	return parts.map((part) => {
		switch (part.type) {
			case "text":
				return { content: part.text };
			case "think":
				return { reasoning_content: part.think };
			case "function": {
				call += 1;
				const { name, arguments: text } = part.function;
				return {
					tool_calls: [
						{
							index: call,
							id: part.id,
							type: "function",
							function: { name, ...(text === null ? {} : { arguments: text }) },
						},
					],
				};
			}
			case "tool_call_part":
				return { tool_calls: [{ index: call, function: { arguments: part.arguments_part ?? "" } }] };
			default:
				throw new Error(`A scenario answers with ${part.type}, which chat completions do not have.`);
		}
	});
}
