// Hook members without an effect and unenforceable guards are rejected, so that no client relies on a missing guard.
import * as v from "valibot";
import {
	denyingPoints,
	longestHookTime,
	maximumHooks,
	type SessionHook,
	sessionHookPoints,
} from "../../../api/values/hooks/session-hook.ts";
import { namedObject, nullish, plainObject } from "./schema.ts";

const text = v.string();
const textWithoutNul = v.pipe(text, v.regex(/^[^\0]*$/, "must not contain a NUL character"));
/** Default hook timeout in milliseconds. */
const standardTime = 5000;
const standardPriority = 100;

const strict = <E extends v.ObjectEntries>(entries: E) =>
	v.pipe(
		plainObject,
		v.strictObject(entries, ({ expected, received }) =>
			expected === "never"
				? `this server does not support it; it takes ${Object.keys(entries).join(", ")}`
				: `Expected ${expected} but received ${received}`,
		),
	);

export const hookRuntimes = {
	command: strict({
		type: v.literal("command"),
		command: v.pipe(textWithoutNul, v.minLength(1)),
		args: v.optional(v.array(textWithoutNul), () => []),
		env: v.optional(
			v.pipe(
				namedObject,
				v.record(v.pipe(text, v.regex(/^[^=\0]+$/, "must be the name of a variable")), textWithoutNul),
			),
			() => ({}),
		),
	}),
	http: strict({
		type: v.literal("http"),
		url: v.pipe(text, v.url(), v.regex(/^https?:\/\//, "must begin with http:// or https://")),
		method: v.optional(v.picklist(["POST", "PUT", "PATCH"]), "POST"),
		headers: v.optional(v.pipe(namedObject, v.record(text, text)), () => ({})),
	}),
};

/** There are no in-process handlers here. */
const runtimeSchema = v.pipe(
	plainObject,
	v.check(
		({ type }) => type === "command" || type === "http",
		'must have the type "command" or "http": this server has no handlers of its own (`in_process`)',
	),
	v.variant("type", [hookRuntimes.command.pipe[1], hookRuntimes.http.pipe[1]]),
);

export const hookEntrySchema = v.pipe(
	strict({
		id: v.optional(v.pipe(text, v.minLength(1), v.maxLength(200)), "hook"),
		enabled: v.optional(v.boolean(), true),
		point: v.optional(v.picklist(sessionHookPoints), "turn_boundary"),
		mode: v.optional(v.picklist(["foreground", "background"]), "foreground"),
		capability: v.optional(v.picklist(["observe", "guardrail"]), "observe"),
		priority: v.optional(v.pipe(v.number(), v.integer()), standardPriority),
		/** By default the run fails with the hook, unless the hook runs in the background. */
		failure_policy: nullish(v.picklist(["fail_open", "fail_closed"])),
		timeout_ms: nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(longestHookTime))),
		model_operations: nullish(v.literal("ordinary_only")),
		runtime: runtimeSchema,
	}),
	v.check(
		({ capability, point }) => capability === "observe" || denyingPoints.has(point),
		({ input: { id, point } }) =>
			`the guardrail ${JSON.stringify(id)} is at ${point}, where nothing can be denied; guardrails are at ${[...denyingPoints].join(", ")}`,
	),
	v.check(
		({ mode, capability, failure_policy: policy }) =>
			mode === "foreground" || (capability === "observe" && policy !== "fail_closed"),
		({ input: { id } }) =>
			`the hook ${JSON.stringify(id)} runs in the background, where it can only observe and never fails the run`,
	),
);

export const hooksOverrideSchema = strict({
	entries: v.optional(
		v.pipe(v.array(hookEntrySchema), v.maxLength(maximumHooks, `must have at most ${maximumHooks} hooks`)),
		() => [],
	),
	disable: v.optional(
		v.pipe(
			v.array(text),
			v.maxLength(0, "must be empty: the hooks of the settings are those of whoever runs this server, and always hold"),
		),
		() => [],
	),
});
export type HooksOverride = v.InferOutput<typeof hooksOverrideSchema>;

export function toSessionHooks({ entries }: HooksOverride): readonly SessionHook[] {
	return entries
		.filter(({ enabled }) => enabled)
		.map(({ id, point, mode, priority, failure_policy: policy, timeout_ms: time, runtime }) => ({
			id,
			point,
			isBackground: mode === "background",
			priority,
			timeout: time ?? standardTime,
			failsOpen: policy === "fail_open",
			runtime: toRuntime(runtime),
		}));
}

function toRuntime(runtime: HooksOverride["entries"][number]["runtime"]): SessionHook["runtime"] {
	return runtime.type === "command"
		? { kind: "command", file: runtime.command, arguments: [...runtime.args], environment: runtime.env }
		: { kind: "http", url: runtime.url, method: runtime.method, headers: runtime.headers };
}
