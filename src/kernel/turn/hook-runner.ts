import type { EventBody } from "../../api/values/event.ts";
import type { ClientHook, CommandHook, Hook } from "../../api/values/hooks/hook.ts";
import type { SessionHook } from "../../api/values/hooks/session-hook.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { cut } from "../../base/text/sentence.ts";
import { runCommandHook } from "../../core/hooks/command-hook.ts";
import { allowed, blocked, type HookDecision, type HookPoint } from "../../core/hooks/hook.ts";
import { Matchers } from "../../core/hooks/matchers.ts";
import { combineDecisions, type SelectedHook, selectHooks } from "../../core/hooks/selection.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import type { Processes } from "../../ports/processes/port.ts";
import type { InteractionTable } from "../interactions/interaction-table.ts";
import { SessionHooks } from "./session-hooks.ts";
import type { EmitInTurn } from "./turn-emitter.ts";

export interface HookRunnerSettings {
	readonly commands: readonly CommandHook[];
	readonly sessionId: string;
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly processes: Processes;
	readonly fetch: Fetch;
	readonly sessionHooks: readonly SessionHook[];
	readonly interactions: InteractionTable;
	readonly identifiers: Identifiers;
	readonly clock: Clock;
	readonly log: Log;
}

/** Minimum request timeout in seconds. Shorter subscription timeouts are raised to it. */
const shortestTimeout = 1;

export interface HookClients {
	readonly hooks: readonly ClientHook[];
	readonly areAnnounced: boolean;
}

export type EmitHookEvent = (body: EventBody) => Promise<void> | undefined;

export class HookRunner {
	readonly #settings: HookRunnerSettings;
	readonly #clients: () => HookClients;
	readonly #matchers = new Matchers();
	readonly #unusable = new WeakSet<Hook>();

	constructor(settings: HookRunnerSettings, clients: () => HookClients) {
		this.#settings = settings;
		this.#clients = clients;
	}

	get commands(): readonly CommandHook[] {
		return this.#settings.commands;
	}

	openRun(isSubagent: boolean, emit: EmitInTurn, signal: AbortSignal): SessionHooks | null {
		const { sessionHooks: hooks, sessionId, log } = this.#settings;
		if (hooks.length === 0) return null;
		return new SessionHooks({ hooks, sessionId, place: this.#settings, log }, isSubagent, emit, signal);
	}

	/** Allows immediately without a match. `emit` null or no handshake with hooks: no batch events. */
	async run(point: HookPoint, emit: EmitHookEvent | null, signal: AbortSignal): Promise<HookDecision> {
		const { clock, log } = this.#settings;
		const clients = this.#clients();
		const hooks = await this.#select([...this.#settings.commands, ...clients.hooks], point);
		if (hooks.length === 0) return allowed;
		const deliver: EmitHookEvent = clients.areAnnounced && emit !== null ? emit : () => undefined;
		const { event, target } = point;
		await deliver({ type: "hook.triggered", event, target, hook_count: hooks.length });
		const startedAt = clock.monotonic();
		const decisions = await Promise.all(
			hooks.map(({ hook, refusal }) => {
				if (hook.kind === "client") return this.#askClient(hook, point, emit, signal);
				return refusal === null ? this.#runCommand(hook, point, signal) : refuse(hook, refusal);
			}),
		);
		const decision = combineDecisions(decisions);
		if (decision.action === "block") log.info("A hook blocked.", { event, target, reason: decision.reason });
		const duration = Math.round(clock.monotonic() - startedAt);
		await deliver({ type: "hook.resolved", event, target, ...decision, duration_ms: duration });
		return decision;
	}

	async #select(hooks: readonly Hook[], point: HookPoint): Promise<readonly SelectedHook[]> {
		const { selected, unusable } = await selectHooks(hooks, point, this.#matchers);
		for (const { hook, reason } of unusable) {
			if (this.#unusable.has(hook)) continue;
			this.#unusable.add(hook);
			const whose = hook.kind === "client" ? { subscription: hook.subscriptionId } : { command: hook.command };
			this.#settings.log.warn("The matcher of a hook cannot be used.", { ...whose, matcher: hook.matcher, reason });
		}
		return selected;
	}

	#runCommand(hook: CommandHook, point: HookPoint, signal: AbortSignal): Promise<HookDecision> {
		return runCommandHook(hook, this.#input(point), this.#settings, signal);
	}

	async #askClient(
		hook: ClientHook,
		point: HookPoint,
		emit: EmitHookEvent | null,
		signal: AbortSignal,
	): Promise<HookDecision> {
		if (emit === null) return allowed;
		const { interactions, identifiers } = this.#settings;
		const interaction = {
			kind: "hook",
			id: identifiers.hex(12),
			subscriptionId: hook.subscriptionId,
			...(hook.clientId === undefined ? {} : { clientId: hook.clientId }),
			event: point.event,
			target: point.target,
			input: this.#input(point),
		} as const;
		const settlement = interactions.waitFor(interaction, "hook", Math.max(hook.timeout, shortestTimeout), signal);
		// The client may have detached since the hooks were selected.
		if (hook.clientId !== undefined) interactions.clientGone();
		await emit({ type: "interaction.requested", interaction });
		const { answer, by } = await settlement;
		await emit({ type: "interaction.resolved", interactionId: interaction.id, answer, by });
		return answer.action === "block" ? blocked(answer.reason) : allowed;
	}

	#input({ event, input }: HookPoint): Record<string, unknown> {
		const { sessionId, workDir } = this.#settings;
		return { hook_event_name: event, session_id: sessionId, cwd: workDir, ...input };
	}
}

/** If a hook blocks on failure, an unusable matcher counts as failure. */
function refuse({ command, matcher }: CommandHook, reason: string): HookDecision {
	const shown = cut(matcher, 200);
	return blocked(`The matcher \`${shown}\` of the hook \`${command}\` cannot be used: ${reason}.`);
}
