import * as v from "valibot";
import { isRecord } from "../../../base/json.ts";
import { toSessionId } from "./session-id.ts";

export const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");
/** Member names that valibot's record schema silently drops. */
const lostNames = ["__proto__", "constructor", "prototype"];
export const namedObject = v.pipe(
	plainObject,
	v.check(
		(value) => !lostNames.some((name) => Object.hasOwn(value, name)),
		`cannot have a member with the name ${lostNames.join(", ")}`,
	),
);
export const nullish = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const unsigned = v.pipe(count, v.maxValue(4_294_967_295));
/** The library's schemas accept lists as objects. */
export const params = <E extends v.ObjectEntries>(entries: E) => v.pipe(plainObject, v.object(entries));

/** Keeps unknown members, for methods that reject them. */
export const looseParams = <E extends v.ObjectEntries>(entries: E) => v.pipe(plainObject, v.looseObject(entries));

export const strictParams = <E extends v.ObjectEntries>(entries: E) =>
	v.pipe(
		plainObject,
		v.strictObject(entries, ({ expected, received }) =>
			expected === "never"
				? `is not a parameter of this method, which has ${Object.keys(entries).join(", ")}`
				: `Invalid key: Expected ${expected} but received ${received}`,
		),
	);

export const sessionId = v.pipe(
	v.string(),
	v.check(
		(text) => toSessionId(text) !== null,
		({ input }) => `Invalid session_id: ${input}`,
	),
	v.transform((text) => toSessionId(text) ?? text),
);
