import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isRecord } from "../../../base/json.ts";
import { parseEchoScript } from "../../../core/models/scripted/echo-language.ts";
import { EchoScriptError } from "../../../core/models/scripted/echo-payload.ts";
import { type Answer, shapes, toAnswer } from "./model-shapes.ts";
import { createToolNames } from "./tool-names.ts";

export interface LoopbackModel {
	readonly url: string;
	restart(): void;
	/** The tool of a script that a request offered nothing like; null while there was none. */
	missingTool(): string | null;
	close(): void;
}

/** Answers each request with the next script; later requests fail with status 400. */
export async function startLoopbackModel(scripts: readonly string[]): Promise<LoopbackModel> {
	let asked = 0;
	let missing: string | null = null;
	const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		const body = await readBody(request);
		const shape = shapes.find(({ path }) => request.url?.split("?", 1)[0]?.endsWith(path));
		if (shape === undefined) {
			const known = shapes.map(({ path }) => path).join(", ");
			fail(response, 404, `This model answers POST requests to ${known}.`);
			return;
		}
		const script = scripts[asked];
		asked += 1;
		if (script === undefined) {
			fail(response, 400, "The scenario has no further answer.");
			return;
		}
		const answer = readScript(script, response);
		if (answer === null) return;
		const { rename, missingTool } = createToolNames(body["tools"]);
		const events = shape.toEvents({ ...answer, calls: answer.calls.map(rename) });
		missing ??= missingTool();
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(events);
	};
	const server = createServer((request, response) => {
		reply(request, response).catch(() => response.destroy());
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
		missingTool: () => missing,
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk);
	try {
		const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
		return isRecord(body) ? body : {};
	} catch {
		return {};
	}
}

/** Null for a script that fails, which the response then says. */
function readScript(script: string, response: ServerResponse): Answer | null {
	try {
		return toAnswer(parseEchoScript(script));
	} catch (thrown) {
		if (!(thrown instanceof EchoScriptError)) throw thrown;
		const { kind, statusCode, message } = thrown.failure;
		if (kind === "connection") response.destroy();
		else fail(response, statusCode ?? 400, message);
		return null;
	}
}

function fail(response: ServerResponse, status: number, message: string): void {
	response.writeHead(status, { "content-type": "application/json" });
	response.end(JSON.stringify({ type: "error", error: { message, type: "error", code: null } }));
}
