// Method params and payloads of the legacy dialect, as on the wire (wire-protocol §7.1). Nulls are left out.
import * as v from "valibot";

/** `input` wins over its alias when it is a string. */
export const runParamsSchema = v.pipe(
	v.looseObject({ input: v.optional(v.unknown()), prompt: v.optional(v.unknown()) }),
	v.transform(({ input, prompt }) => (typeof input === "string" ? input : prompt)),
	v.string(),
);
export const anyParamsSchema = v.unknown();

/** What a client answers to an approval. */
export const approvalResultSchema = v.object({ response: v.picklist(["approve", "approve_for_session", "reject"]) });

export type RunResult =
	| { readonly status: "finished" | "cancelled" }
	| { readonly status: "max_steps_reached"; readonly steps: number };

export interface InterruptResult {
	readonly status: "ok" | "idle";
}

/** An event or a request: types without fields have no `payload` at all. */
export interface LegacyMessage {
	readonly type: string;
	readonly payload?: object;
}
