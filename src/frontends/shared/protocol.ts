// The declaration of a dialect: the shapes it serves with, from which its document and its JSON Schema are generated.
import type * as v from "valibot";
import type { ActsOn } from "../../ports/rpc/methods.ts";

export interface MethodShape {
	readonly params: v.GenericSchema;
	/** Null where there is no response. */
	readonly result: v.GenericSchema | null;
	readonly actsOn?: ActsOn;
}

/** A request of the server to its client. */
export interface RequestShape {
	readonly payload: v.GenericSchema;
	/** What the client answers. */
	readonly result: v.GenericSchema;
}

export interface Protocol {
	/** The methods that clients call. */
	readonly methods: Readonly<Record<string, MethodShape>>;
	/** The events sent to clients, by type; null for a type without a payload. */
	readonly events: Readonly<Record<string, v.GenericSchema | null>>;
	/** By type. */
	readonly requests: Readonly<Record<string, RequestShape>>;
}
