import * as v from "valibot";
import type { McpToolFilter } from "../../api/mcp-servers.ts";
import type { JsonSchema } from "../../api/session-options.ts";
import { isRecord } from "../../base/json.ts";
import { beginning } from "../../base/text/well-formed.ts";

export interface ListedTool {
	readonly name: string;
	readonly description: string;
	readonly parameters: JsonSchema;
	readonly tags: readonly string[];
}

const tagsSchema = v.object({ tags: v.array(v.string()) });
const toolSchema = v.object({
	name: v.string("it has no name"),
	title: v.nullish(v.string()),
	description: v.nullish(v.string("its description is not a string")),
	inputSchema: v.optional(v.custom<JsonSchema>(isRecord, "its parameters are not a JSON Schema"), {}),
	/** Where a widespread server library puts the tags. */
	_meta: v.fallback(
		v.optional(v.object({ fastmcp: v.optional(tagsSchema), _fastmcp: v.optional(tagsSchema) }), {}),
		{},
	),
});

export type ReadTool =
	| { readonly ok: true; readonly tool: ListedTool }
	/** `reason` is a clause. */
	| { readonly ok: false; readonly name: string; readonly reason: string };

/** The names that the protocol allows, plus the slash that older servers use. */
const usableName = /^[\w./-]{1,128}$/;

export function readTool(value: unknown): ReadTool {
	const parsed = v.safeParse(toolSchema, value);
	if (!parsed.success) return { ok: false, name: nameOf(value), reason: parsed.issues[0].message };
	const { name, title, description, inputSchema, _meta } = parsed.output;
	if (!usableName.test(name)) return { ok: false, name: nameOf(value), reason: "models cannot call it by its name" };
	// Providers reject a whole request if one function's arguments are not an object.
	const parameters: JsonSchema = { type: "object", ...inputSchema };
	if (parameters["type"] !== "object") return { ok: false, name, reason: 'the type of its parameters is not "object"' };
	const tags = _meta.fastmcp?.tags ?? _meta._fastmcp?.tags ?? [];
	return { ok: true, tool: { name, description: (description || title) ?? "", parameters, tags } };
}

function nameOf(value: unknown): string {
	const { name } = v.parse(v.fallback(v.object({ name: v.string() }), { name: "" }), value);
	return beginning(name, 128);
}

export function passes(
	{ names, hidden, includeTags, excludeTags }: McpToolFilter,
	{ name, tags }: ListedTool,
): boolean {
	if (names?.includes(name) === false || hidden.includes(name)) return false;
	if (includeTags?.some((tag) => tags.includes(tag)) === false) return false;
	return !excludeTags.some((tag) => tags.includes(tag));
}
