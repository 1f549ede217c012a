// Our loose schemas parse answers that the library would reject as a whole for one unknown part.
import type { Client, ProgressCallback } from "@modelcontextprotocol/client";
import * as v from "valibot";
import { type CallResult, callResultSchema } from "./result.ts";
import type { ListedTool } from "./tool-list.ts";

const pageSchema = v.object({ tools: v.array(v.unknown()), nextCursor: v.nullish(v.string()) });
type Page = v.InferOutput<typeof pageSchema>;

/** Milliseconds per page of the tool list. */
const listPatience = 60_000;
const pageLimit = 64;
const toolLimit = 1000;
/** Disables the library's own timer. */
const longest = 2_147_483_647;

function isModern(client: Client): boolean {
	return client.getProtocolEra() === "modern";
}

export interface ServerTools {
	readonly tools: readonly unknown[];
	readonly isCut: boolean;
}

export async function requestTools(client: Client, signal: AbortSignal): Promise<ServerTools> {
	// The library prints to stdout when it lists the tools of a server without tools.
	if (client.getServerCapabilities()?.tools === undefined) return { tools: [], isCut: false };
	const tools = await requestPages(client, signal);
	return { tools: tools.slice(0, toolLimit), isCut: tools.length > toolLimit };
}

async function requestPages(client: Client, signal: AbortSignal): Promise<readonly unknown[]> {
	const options = { timeout: listPatience, signal };
	// The newer protocol requires clients to skip tools that request invalid headers.
	if (isModern(client)) return (await client.listTools({}, { ...options, cacheMode: "refresh" })).tools;
	let tools: readonly unknown[] = [];
	let cursor: string | null = null;
	for (let count = 0; count < pageLimit && tools.length <= toolLimit; count += 1) {
		const params = cursor === null ? {} : { params: { cursor } };
		const page: Page = await client.request({ method: "tools/list", ...params }, pageSchema, options);
		tools = [...tools, ...page.tools];
		const next = page.nextCursor ?? null;
		if (next === null || next === cursor) break;
		cursor = next;
	}
	return tools;
}

export interface CallOptions {
	readonly signal: AbortSignal;
	readonly onprogress: ProgressCallback;
}

export async function requestCall(
	client: Client,
	{ name, parameters }: Pick<ListedTool, "name" | "parameters">,
	value: Readonly<Record<string, unknown>>,
	options: CallOptions,
): Promise<CallResult> {
	const params = { name, arguments: value };
	const patient = { ...options, timeout: longest };
	if (!isModern(client)) return await client.request({ method: "tools/call", params }, callResultSchema, patient);
	// New-protocol tools may request headers. No output schema: an invalid output is no reason to drop the result.
	const toolDefinition = { name, inputSchema: { ...parameters, type: "object" as const } };
	return v.parse(callResultSchema, await client.callTool(params, { ...patient, toolDefinition }));
}
