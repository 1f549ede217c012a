import * as v from "valibot";
import { type HookEvent, isHookEvent } from "../../api/values/hooks/hook-event.ts";
import { ClientRefusal, type Frames } from "./frames.ts";
import { type HookAnswer, type HookMatcher, hookAnswerSchema, type Initialize } from "./wire.ts";

/** Default callback timeout in seconds. */
const defaultTimeout = 60;

/** Points before the session has a client, or whose result is more than a yes or no. */
const ownPoints: ReadonlySet<HookEvent> = new Set(["UserPromptSubmit", "SessionStart", "SessionEnd"]);

export type HookBase = Readonly<Record<string, unknown>>;

export interface HookVerdict {
	readonly blocked: string | null;
	/** `allow`: no approval is needed; `ask`: one is needed in any case. */
	readonly permission: "allow" | "ask" | null;
	readonly updatedInput: Readonly<Record<string, unknown>> | null;
	readonly contexts: readonly string[];
}

export const noVerdict: HookVerdict = { blocked: null, permission: null, updatedInput: null, contexts: [] };

interface Callback {
	readonly id: string;
	readonly matches: (target: string) => boolean;
	readonly seconds: number;
}

export class ClientHooks {
	readonly #frames: Frames;
	readonly #byEvent = new Map<HookEvent, readonly Callback[]>();
	/** By event that the client named: whether its hooks run. */
	readonly applied: Readonly<Record<string, string>>;

	constructor(frames: Frames, hooks: Initialize["hooks"]) {
		this.#frames = frames;
		const applied: [string, string][] = [];
		for (const [event, matchers] of Object.entries(hooks ?? {})) {
			if (matchers === null || matchers.length === 0) continue;
			applied.push([event, isHookEvent(event) ? "applied" : "not supported"]);
			if (isHookEvent(event)) this.#byEvent.set(event, matchers.flatMap(toCallbacks));
		}
		this.applied = Object.fromEntries(applied);
	}

	subscriptions() {
		return [...this.#byEvent]
			.filter(([event]) => !ownPoints.has(event))
			.map(([event, callbacks]) => ({
				kind: "client" as const,
				event,
				subscriptionId: event,
				matcher: "",
				timeout: Math.max(...callbacks.map(({ seconds }) => seconds)),
			}));
	}

	/** Runs all callbacks at once. A failing callback blocks nothing, as in the client's own program. */
	async run(
		event: string,
		target: string,
		input: HookBase,
		toolUseId: string | null,
		signal: AbortSignal,
	): Promise<HookVerdict> {
		const callbacks = isHookEvent(event) ? (this.#byEvent.get(event) ?? []) : [];
		const answers = await Promise.all(
			callbacks
				.filter(({ matches }) => matches(target))
				.map((callback) => this.#call(callback, { hook_event_name: event, ...input }, toolUseId, signal)),
		);
		return answers.map(toVerdict).reduce(combine, noVerdict);
	}

	async #call(
		{ id, seconds }: Callback,
		input: HookBase,
		toolUseId: string | null,
		signal: AbortSignal,
	): Promise<HookAnswer> {
		const limited = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
		const named = toolUseId === null ? {} : { tool_use_id: toolUseId };
		try {
			const answer = await this.#frames.request(
				{ subtype: "hook_callback", callback_id: id, input, ...named },
				limited,
			);
			const parsed = v.safeParse(hookAnswerSchema, answer);
			return parsed.success ? parsed.output : {};
		} catch (thrown) {
			if (thrown instanceof ClientRefusal) return {};
			throw thrown;
		}
	}
}

function toCallbacks({ matcher, hookCallbackIds, timeout }: HookMatcher): readonly Callback[] {
	const matches = toMatch(matcher ?? "");
	return hookCallbackIds.map((id) => ({ id, matches, seconds: timeout ?? defaultTimeout }));
}

/** A name, names between bars, or a regular expression for the whole target; invalid ones match literally. */
function toMatch(matcher: string): (target: string) => boolean {
	if (matcher === "" || matcher === "*") return () => true;
	if (/^[\w|]+$/.test(matcher)) {
		const names = matcher.split("|");
		return (target) => names.includes(target);
	}
	try {
		const expression = new RegExp(`^(?:${matcher})$`);
		return (target) => expression.test(target);
	} catch {
		return (target) => target === matcher;
	}
}

function toVerdict(answer: HookAnswer): HookVerdict {
	const special = answer.hookSpecificOutput ?? {};
	const denied = special.permissionDecision === "deny" || answer.decision === "block";
	const stopped = answer.continue === false;
	const reason = special.permissionDecisionReason ?? answer.reason ?? answer.stopReason ?? "A hook blocked this.";
	const { permissionDecision: permission } = special;
	return {
		blocked: denied || stopped ? reason : null,
		permission: permission === "allow" || permission === "ask" ? permission : null,
		updatedInput: special.updatedInput ?? null,
		contexts: [special.additionalContext ?? "", answer.systemMessage ?? ""].filter((text) => text !== ""),
	};
}

function combine(one: HookVerdict, other: HookVerdict): HookVerdict {
	return {
		blocked: one.blocked ?? other.blocked,
		permission: one.permission === "ask" ? "ask" : (other.permission ?? one.permission),
		updatedInput: other.updatedInput ?? one.updatedInput,
		contexts: [...one.contexts, ...other.contexts],
	};
}
