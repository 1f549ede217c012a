// What the shapes of the Agent Client Protocol are built from.
import * as v from "valibot";
import { isRecord } from "../../base/json.ts";
import { quoted } from "./errors.ts";

const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");

/** Absent and null mean the same. */
export const nullish = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);

/** Where clients and agents put what the protocol does not name. */
export const meta = { _meta: v.exactOptional(v.nullable(v.record(v.string(), v.unknown()))) };

/** The library's schemas accept lists as objects. */
export const params = <E extends v.ObjectEntries>(entries: E) => v.pipe(plainObject, v.object({ ...entries, ...meta }));

/** An empty object means yes; absent, null and anything else mean no. */
export const capability = v.optional(
	v.pipe(
		v.unknown(),
		v.transform((value) => isRecord(value)),
	),
	null,
);

/** True means yes; anything else means no. */
export const flag = v.optional(
	v.pipe(
		v.unknown(),
		v.transform((value) => value === true),
	),
	false,
);

/** A capability as it is declared: an empty object. */
export const declared = v.object({});

/** MCP servers of a session: each may be a process. */
const maximumServers = 100;

/** The MCP servers that a client gives to a session. */
export const mcpServers = <S extends v.GenericSchema>(server: S) =>
	v.optional(
		v.pipe(
			v.array(server),
			v.maxLength(
				maximumServers,
				({ input }) => `${input.length} MCP servers are given; at most ${maximumServers} are started in a session`,
			),
		),
		() => [],
	);

export const absolutePath = v.pipe(
	v.string(),
	v.check(
		(path) => /^([/\\]|[A-Za-z]:[/\\])/.test(path),
		({ input }) => `an absolute path is needed, not ${quoted(input)}`,
	),
);
