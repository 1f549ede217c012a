// The JSON Schema of a dialect as it is published, put to use.
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ProtocolDescription } from "../../../scripts/protocol/description.ts";
import { toProtocolSchema } from "../../../scripts/protocol/json-schema.ts";

/** Checks whether a value is a line of one side. */
export function fitting(
	description: ProtocolDescription,
	side: "ClientLine" | "ServerLine",
): (value: unknown) => boolean {
	const ajv = new Ajv2020({ strict: false });
	const schema = toProtocolSchema(description);
	const check = ajv.compile({ ...schema, anyOf: [{ $ref: `#/$defs/${side}` }] });
	return (value) => check(value);
}
