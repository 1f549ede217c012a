// The requests to a server over a link. Loose schemas of our own parse the answers of older protocol versions: the
// library would reject a whole answer because of one unknown part.
import type { Client, ProgressCallback } from "@modelcontextprotocol/client";
import * as v from "valibot";
import { type CallResult, callResultSchema } from "./result.ts";
import type { ListedTool } from "./tool-list.ts";

const pageSchema = v.object({ tools: v.array(v.unknown()), nextCursor: v.nullish(v.string()) });
type Page = v.InferOutput<typeof pageSchema>;

/** Milliseconds for a page of the list of tools. */
const listPatience = 60_000;
const pageLimit = 64;
/** Tools that are read of a server, before those that are left out are taken away. */
const toolLimit = 1000;
/** The library's own timer is out of the way. */
const longest = 2_147_483_647;

function isModern(client: Client): boolean {
	return client.getProtocolEra() === "modern";
}

/** What a server lists as tools. */
export interface ServerTools {
	readonly tools: readonly unknown[];
	/** Whether there are more than are read. */
	readonly isCut: boolean;
}

/** The first 1000 that the server lists as a tool. */
export async function requestTools(client: Client, signal: AbortSignal): Promise<ServerTools> {
	// The library prints to stdout when a server without tools is asked for them.
	if (client.getServerCapabilities()?.tools === undefined) return { tools: [], isCut: false };
	const tools = await requestPages(client, signal);
	return { tools: tools.slice(0, toolLimit), isCut: tools.length > toolLimit };
}

async function requestPages(client: Client, signal: AbortSignal): Promise<readonly unknown[]> {
	const options = { timeout: listPatience, signal };
	// By the newer versions it has to leave tools out that ask for headers in a wrong way.
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
	// By the newer versions a tool may want to have arguments in headers, too. Without the schema of its output, which is
	// no reason to throw away what the server did.
	const toolDefinition = { name, inputSchema: { ...parameters, type: "object" as const } };
	return v.parse(callResultSchema, await client.callTool(params, { ...patient, toolDefinition }));
}
