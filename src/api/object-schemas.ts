// Building blocks for the schemas of values that cross a connection. A schema built with `objectOf` has every member of its
// kernel API interface: the compiler checks that none is missing.
import * as v from "valibot";
import { isRecord } from "../base/json.ts";

/** A schema with this output type, for any input. */
export type SchemaOf<T> = v.GenericSchema<unknown, T>;

/** One schema per member. A member that may be absent has an optional schema. */
type EntriesOf<T> = {
	readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K>
		? v.ExactOptionalSchema<SchemaOf<Exclude<T[K], undefined>>, undefined>
		: SchemaOf<T[K]>;
};

export function objectOf<T extends object>(entries: EntriesOf<T>): SchemaOf<T> {
	const object: unknown = v.object(entries);
	// `EntriesOf` has checked each member; the compiler cannot reassemble a generic type.
	return object as SchemaOf<T>;
}

export const text = v.string();
export const flag = v.boolean();
export const amount = v.number();
export const texts = v.array(text);
export const nullableText = v.nullable(text);
export const nullableAmount = v.nullable(amount);
/** Any key is allowed: valibot's own record schema drops names that all objects have, such as `constructor`. */
export const anyRecord = v.custom<Record<string, unknown>>(isRecord);
export const textsByName = v.custom<Record<string, string>>(
	(value) => isRecord(value) && Object.values(value).every((each) => typeof each === "string"),
);
export const optional = <S extends v.GenericSchema>(schema: S) => v.exactOptional(schema);
