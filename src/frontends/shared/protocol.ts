import type * as v from "valibot";
import type { ActsOn } from "../../ports/rpc/methods.ts";

export interface MethodShape {
	readonly params: v.GenericSchema;
	readonly result: v.GenericSchema | null;
	readonly actsOn?: ActsOn;
}

export interface RequestShape {
	readonly payload: v.GenericSchema;
	readonly result: v.GenericSchema;
}

export interface Protocol {
	readonly methods: Readonly<Record<string, MethodShape>>;
	/** By type; null for an event without a payload. */
	readonly events: Readonly<Record<string, v.GenericSchema | null>>;
	readonly requests: Readonly<Record<string, RequestShape>>;
}
