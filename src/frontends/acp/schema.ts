import * as v from "valibot";
import { isRecord } from "../../base/json.ts";
import { quoted } from "./errors.ts";

const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");

/** Absent and null are equivalent. */
export const nullish = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);

/** Extension data of clients and agents. */
export const meta = { _meta: v.exactOptional(v.nullable(v.record(v.string(), v.unknown()))) };

export const params = <E extends v.ObjectEntries>(entries: E) => v.pipe(plainObject, v.object({ ...entries, ...meta }));

/** An empty object means yes; absent, null and other values mean no. */
export const capability = v.optional(
	v.pipe(
		v.unknown(),
		v.transform((value) => isRecord(value)),
	),
	null,
);

export const flag = v.optional(
	v.pipe(
		v.unknown(),
		v.transform((value) => value === true),
	),
	false,
);

export const declared = v.object({});

/** Maximum MCP servers per session; each may be a process. */
const maximumServers = 100;

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
