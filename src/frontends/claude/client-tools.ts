// Tools of the client's process: MCP over control requests.
import * as v from "valibot";
import type { ClientToolDeclaration } from "../../api/session-options.ts";
import { type ContentPart, type ToolReturn, toolError, toolSuccess } from "../../api/values/content.ts";
import { isRecord } from "../../base/json.ts";
import { ClientRefusal, type Frames } from "./frames.ts";
import { mcpAnswerSchema } from "./wire.ts";

const protocolVersion = "2025-06-18";
const mostPages = 100;

const toolSchema = v.object({
	name: v.string(),
	description: v.optional(v.nullable(v.string()), ""),
	inputSchema: v.optional(v.custom<Record<string, unknown>>(isRecord), () => ({ type: "object" })),
});
const listSchema = v.object({ tools: v.array(toolSchema), nextCursor: v.exactOptional(v.nullable(v.string())) });
const callResultSchema = v.object({
	content: v.optional(v.array(v.looseObject({ type: v.string() })), []),
	structuredContent: v.exactOptional(v.unknown()),
	isError: v.exactOptional(v.boolean()),
});

export interface ClientServer {
	readonly name: string;
	readonly status: "connected" | "failed";
}

export interface ClientTool {
	readonly server: string;
	readonly name: string;
}

export class ClientTools {
	readonly servers: ClientServer[] = [];
	readonly declarations: ClientToolDeclaration[] = [];
	readonly #frames: Frames;
	readonly #byName = new Map<string, ClientTool>();
	#lastId = 0;

	constructor(frames: Frames) {
		this.#frames = frames;
	}

	/** Lists the tools of each server; a failing server has none. */
	async connect(names: readonly string[], signal: AbortSignal): Promise<void> {
		for (const server of new Set(names)) {
			try {
				await this.#connect(server, signal);
				this.servers.push({ name: server, status: "connected" });
			} catch (thrown) {
				if (!(thrown instanceof ClientRefusal)) throw thrown;
				this.servers.push({ name: server, status: "failed" });
			}
		}
	}

	find(name: string): ClientTool | null {
		return this.#byName.get(name) ?? null;
	}

	/** A failure is a result that the model reads. */
	async call(
		{ server, name }: ClientTool,
		input: Readonly<Record<string, unknown>>,
		signal: AbortSignal,
	): Promise<ToolReturn> {
		try {
			const result = await this.#request(server, "tools/call", { name, arguments: input }, signal);
			const parsed = v.safeParse(callResultSchema, result);
			if (!parsed.success) return toolError("The client's tool gave a result that cannot be read.", "Invalid result");
			const { content, structuredContent, isError = false } = parsed.output;
			const parts = content.map(toPart);
			if (parts.length === 0 && structuredContent !== undefined)
				parts.push({ type: "text", text: JSON.stringify(structuredContent) });
			return isError ? toolError("", "Tool failed", { output: parts }) : toolSuccess({ output: parts });
		} catch (thrown) {
			if (!(thrown instanceof ClientRefusal)) throw thrown;
			return toolError(`The client's tool failed: ${thrown.message}`, "Tool failed");
		}
	}

	async #connect(server: string, signal: AbortSignal): Promise<void> {
		const clientInfo = { name: "agentwire", version: "1" };
		await this.#request(server, "initialize", { protocolVersion, capabilities: {}, clientInfo }, signal);
		await this.#send(server, { jsonrpc: "2.0", method: "notifications/initialized", params: {} }, signal);
		let cursor: string | null = null;
		for (let page = 0; page < mostPages; page += 1) {
			const list: unknown = await this.#request(server, "tools/list", cursor === null ? {} : { cursor }, signal);
			const parsed = v.safeParse(listSchema, list);
			if (!parsed.success) throw new ClientRefusal("The list of tools cannot be read.");
			for (const tool of parsed.output.tools) {
				const name = `mcp__${server}__${tool.name}`;
				this.#byName.set(name, { server, name: tool.name });
				this.declarations.push({ name, description: tool.description ?? "", parameters: tool.inputSchema });
			}
			cursor = parsed.output.nextCursor ?? null;
			if (cursor === null) return;
		}
	}

	async #request(server: string, method: string, params: object, signal: AbortSignal): Promise<unknown> {
		this.#lastId += 1;
		const message = { jsonrpc: "2.0", id: this.#lastId, method, params };
		const answer = v.safeParse(mcpAnswerSchema, await this.#send(server, message, signal));
		if (!answer.success) throw new ClientRefusal("The answer has no mcp_response.");
		const { result, error } = answer.output.mcp_response;
		if (isRecord(error)) throw new ClientRefusal(String(error["message"] ?? "unknown error"));
		return result;
	}

	#send(server: string, message: object, signal: AbortSignal): Promise<unknown> {
		return this.#frames.request({ subtype: "mcp_message", server_name: server, message }, signal);
	}
}

function toPart(part: Readonly<Record<string, unknown>>): ContentPart {
	const { type, text, data, mimeType } = part;
	if (type === "text" && typeof text === "string") return { type: "text", text };
	if (type === "image" && typeof data === "string" && typeof mimeType === "string")
		return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}`, id: null } };
	return { type: "text", text: JSON.stringify(part) };
}
