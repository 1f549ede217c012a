// Cases of the wedge campaign: JSON Schemas of MCP servers, of clients' tools and of plugins, and the arguments held against them.
import { fileURLToPath } from "node:url";
import type { Case, Scene, World } from "./case.ts";
import { callTools } from "./loopback.ts";
import { fill, list, nest } from "./texts.ts";

const program = fileURLToPath(new URL("./mcp-server.mjs", import.meta.url));

export interface ServerScript {
	readonly begin?: string;
	readonly list: string;
	readonly call?: string;
	readonly noise?: string;
}

/** The settings of a server that says this, in `mcp.json`. */
export function serveTools({ stage }: World, script: ServerScript): void {
	const file = stage.writeShared("mcp-script.json", JSON.stringify(script));
	const server = { command: process.execPath, args: [program, file] };
	stage.writeShared("mcp.json", JSON.stringify({ mcpServers: { hostile: server } }));
}

interface Tried {
	readonly name: string;
	/** The schema of the arguments, as text. */
	readonly schema: (size: number) => string;
	/** The arguments of the call, as text. */
	readonly given: (size: number) => string;
}

const object = (value: string, more = "") => `{"type":"object","properties":{"x":${value}}${more}}`;
const x = (text: string) => JSON.stringify({ x: text });

/** Definitions each of which names the next one twice. */
function doubled(word: string, depth: number): string {
	const pair = (number: number) => `{"$ref":"#/$defs/d${number}"}`;
	const definitions = Array.from(
		{ length: depth },
		(_, number) => `"d${number}":{"${word}":[${pair(number + 1)},${pair(number + 1)}]}`,
	);
	return object('{"$ref":"#/$defs/d0"}', `,"$defs":{${definitions.join(",")},"d${depth}":{"type":"boolean"}}`);
}

const schemas: readonly Tried[] = [
	...["anyOf", "oneOf", "allOf"].map((word) => ({
		name: `doubled ${word}`,
		schema: () => doubled(word, 30),
		given: () => x("no"),
	})),
	{
		name: "a doubled repetition as pattern",
		schema: () => object('{"pattern":"^(a+)+$"}'),
		given: (size) => x(`${fill("a", size)}!`),
	},
	{
		name: "a pattern with a look ahead and back",
		schema: () => object('{"pattern":"^(?=(a+))\\\\1*b"}'),
		given: (size) => x(fill("a", size)),
	},
	{
		name: "a pattern of a megabyte",
		schema: (size) => object(`{"pattern":"${fill("(a|b)?", size - (size % 6))}"}`),
		given: () => x("aaa"),
	},
	{
		name: "a thousand patterns for names",
		schema: () => `{"type":"object","patternProperties":{${list(60_000, (n) => `"(a*)*${n}$":{}`, ",")}}}`,
		given: (size) => `{${list(size, (n) => `"${"a".repeat(30)}${n}":1`, ",")}}`,
	},
	{
		name: "a list of different things",
		schema: () => object('{"type":"array","uniqueItems":true}'),
		given: (size) => `{"x":[${list(size, (n) => `{"n":${n}}`, ",")}]}`,
	},
	{
		name: "a choice of a hundred thousand",
		schema: (size) => object(`{"enum":[${list(size, (n) => `"${n}"`, ",")}]}`),
		given: () => `{"x":[${list(20_000, (n) => `"y${n}"`, ",")}]}`,
	},
	{
		name: "a choice of many for each of many",
		schema: (size) => object(`{"type":"array","items":{"enum":[${list(size / 2, (n) => `{"a":${n}}`, ",")}]}}`),
		given: (size) => `{"x":[${list(size / 2, (n) => `{"a":-${n}}`, ",")}]}`,
	},
	{
		name: "a schema that holds itself",
		schema: () =>
			object('{"$ref":"#/$defs/a"}', ',"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"items":{"$ref":"#/$defs/a"}}]}}'),
		given: () => `{"x":${nest("[", "]", 2000)}}`,
	},
	{
		name: "a schema of deep objects",
		schema: (size) => nest('{"type":"object","properties":{"x":', "}}", size, "{}"),
		given: () => nest('{"x":', "}", 1000, "1"),
	},
	{
		name: "deep negations",
		schema: (size) => object(nest('{"not":', "}", size, "true")),
		given: () => x("a"),
	},
	{
		name: "ten thousand conditions",
		schema: (size) =>
			object(`{"allOf":[${list(size, () => '{"if":{"minLength":1},"then":{"maxLength":9999999}}', ",")}]}`),
		given: (size) => x(fill("a", size)),
	},
	{
		name: "lengths of a text of odd characters",
		schema: () => object(`{"allOf":[${list(20_000, (n) => `{"minLength":${n}}`, ",")}]}`),
		given: (size) => x(fill("\u{1f600}", size / 2)),
	},
	{
		name: "what must be there, a hundred thousand times",
		schema: (size) => `{"type":"object","required":[${list(size, (n) => `"r${n}"`, ",")}]}`,
		given: () => "{}",
	},
	{
		name: "what no other part has looked at",
		schema: () =>
			`{"type":"object","unevaluatedProperties":false,"allOf":[${list(20_000, (n) => `{"properties":{"p${n}":{}}}`, ",")}]}`,
		given: (size) => `{${list(size, (n) => `"p${n}":1`, ",")}}`,
	},
	{
		name: "things that must be contained",
		schema: () => object(`{"contains":{"contains":{"const":"never"}},"prefixItems":[true]}`),
		given: (size) => `{"x":[${list(size, () => "[1,2,3]", ",")}]}`,
	},
	{
		name: "formats and multiples",
		schema: () => object('{"type":"array","items":{"format":"uri","multipleOf":1e-300,"type":["number","string"]}}'),
		given: (size) => `{"x":[${list(size, (n) => `1e${n % 300}`, ",")}]}`,
	},
	{
		name: "names of Object",
		schema: () => object('{"$ref":"#/__proto__/constructor"}'),
		given: () => '{"__proto__":{"x":1},"constructor":1}',
	},
	{
		name: "a reference to elsewhere",
		schema: () => object('{"$ref":"http://127.0.0.1:1/schema"}'),
		given: () => x("a"),
	},
	{ name: "a title of a megabyte", schema: (size) => object(`{"title":"${fill("t", size)}"}`), given: () => x("a") },
];

const ofServers = schemas.map(
	({ name, schema, given }): Case => ({
		area: "MCP schema",
		name,
		reached: /paint (ok|error)/,
		set(world): Scene {
			serveTools(world, { list: `{"tools":[{"name":"paint","inputSchema":${schema(world.size)}}]}` });
			return { answers: [callTools({ name: "paint", arguments: given(world.size) })] };
		},
	}),
);

const ofClients = schemas.map(
	({ name, schema, given }): Case => ({
		area: "client's tool",
		name,
		reached: /initialize error|paint (ok|error)/,
		set: ({ size }): Scene => ({
			answers: [callTools({ name: "paint", arguments: given(size) })],
			declared: `[{"name":"paint","description":"","input_schema":${schema(size)}}]`,
		}),
	}),
);

const ofPlugins = schemas.map(
	({ name, schema, given }): Case => ({
		area: "plugin's tool",
		name,
		reached: /paint (ok|error)/,
		set({ stage, size }): Scene {
			const tool = `{"name":"paint","description":"","command":["cat"],"parameters":${schema(size)}}`;
			stage.writeShared("plugins/hostile/plugin.json", `{"name":"hostile","version":"1","tools":[${tool}]}`);
			return { answers: [callTools({ name: "paint", arguments: given(size) })] };
		},
	}),
);

export const schemaCases: readonly Case[] = [...ofServers, ...ofClients, ...ofPlugins];
