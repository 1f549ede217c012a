// What the schemas of values that cross a connection are made of. What an interface of the kernel API has, its schema has:
// the compiler checks that no member is left out.
import * as v from "valibot";
import { isRecord } from "../base/json.ts";

/** The schema of a value of this type, whatever is read. */
export type SchemaOf<T> = v.GenericSchema<unknown, T>;

/** One schema for each member; a member that may be absent has one that says so. */
type EntriesOf<T> = {
	readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K>
		? v.ExactOptionalSchema<SchemaOf<Exclude<T[K], undefined>>, undefined>
		: SchemaOf<T[K]>;
};

export function objectOf<T extends object>(entries: EntriesOf<T>): SchemaOf<T> {
	const object: unknown = v.object(entries);
	// EntriesOf has checked each member; the compiler cannot put them together again for a type that is not known yet.
	return object as SchemaOf<T>;
}

export const text = v.string();
export const flag = v.boolean();
export const amount = v.number();
export const texts = v.array(text);
export const nullableText = v.nullable(text);
export const nullableAmount = v.nullable(amount);
/** With every name: the library's own schema leaves out those that all objects have, such as `constructor`. */
export const anyRecord = v.custom<Record<string, unknown>>(isRecord);
export const textsByName = v.custom<Record<string, string>>(
	(value) => isRecord(value) && Object.values(value).every((each) => typeof each === "string"),
);
export const optional = <S extends v.GenericSchema>(schema: S) => v.exactOptional(schema);
