// What a dialect declares of itself: the shapes it serves with, of which its document and its JSON Schema are made.
import type * as v from "valibot";
import type { ActsOn } from "../rpc/methods.ts";

export interface MethodShape {
	readonly params: v.GenericSchema;
	/** Null where there is no answer. */
	readonly result: v.GenericSchema | null;
	readonly actsOn?: ActsOn;
}

/** What the server asks of its client. */
export interface RequestShape {
	readonly payload: v.GenericSchema;
	/** What the client answers. */
	readonly result: v.GenericSchema;
}

export interface Protocol {
	/** What clients call, by method. */
	readonly methods: Readonly<Record<string, MethodShape>>;
	/** What clients are told, by type; null for a type that has no payload at all. */
	readonly events: Readonly<Record<string, v.GenericSchema | null>>;
	/** By type. */
	readonly requests: Readonly<Record<string, RequestShape>>;
}
