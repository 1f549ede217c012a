import type { ClientHook, CommandHook } from "../api/values/hooks/hook.ts";
import { isHookEvent } from "../api/values/hooks/hook-event.ts";
import { isRecord } from "../base/json.ts";
import type { Processes, RunOutcome } from "../ports/processes/port.ts";
import type { Conductor } from "./conductor.ts";
import type { Score } from "./score.ts";

interface Batch {
	readonly event: string;
	readonly score: Score;
	readonly triggeredAt: number;
	readonly resolvedAt: number | null;
	left: number;
	/** Why the next command blocks; null if it does not. */
	reason: string | null;
}

export interface PlayedHooks {
	readonly commands: readonly CommandHook[];
	readonly processes: Processes;
	readonly ofClients: readonly ClientHook[] | null;
}

/** Seconds, more than any hook takes here. */
const timeout = 60;

/** Seconds after which a client's hook was abandoned; null if it answered. */
function secondsOf(interactionId: string, { events }: Score): number | null {
	for (const { body } of events)
		if (body.type === "interaction.resolved" && body.interactionId === interactionId && body.by?.kind === "deadline")
			return body.by.seconds;
	return null;
}

export function playHooks(conductor: Conductor): PlayedHooks {
	const batches: Batch[] = [];
	const commands = new Map<string, { count: number; readonly targets: Set<string> }>();
	const subscriptions = new Map<string, { readonly event: string; readonly targets: Set<string>; timeout: number }>();
	for (const score of conductor.scores.values()) {
		score.events.forEach(({ body }, index) => {
			if (body.type === "interaction.requested" && body.interaction.kind === "hook") {
				const { id, subscriptionId, event, target } = body.interaction;
				const known = subscriptions.get(subscriptionId) ?? { event, targets: new Set<string>(), timeout };
				subscriptions.set(subscriptionId, known);
				known.targets.add(target);
				known.timeout = secondsOf(id, score) ?? known.timeout;
			}
			if (body.type !== "hook.triggered") return;
			const found = score.events.findIndex(
				(other, at) =>
					at > index &&
					other.body.type === "hook.resolved" &&
					other.body.event === body.event &&
					other.body.target === body.target,
			);
			const resolved = score.body(found);
			const within = score.events.slice(index, found === -1 ? undefined : found);
			const ofClients = within.filter(
				(each) => each.body.type === "interaction.requested" && each.body.interaction.kind === "hook",
			).length;
			const isClients = within.some(
				(each) =>
					each.body.type === "interaction.resolved" &&
					each.body.answer.kind === "hook" &&
					each.body.answer.action === "block",
			);
			const left = body.hook_count - ofClients;
			const reason =
				resolved?.type === "hook.resolved" && resolved.action === "block" && !isClients ? resolved.reason : null;
			batches.push({
				event: body.event,
				score,
				triggeredAt: index,
				resolvedAt: found === -1 ? null : found,
				left,
				reason,
			});
			const known = commands.get(body.event) ?? { count: 0, targets: new Set<string>() };
			commands.set(body.event, known);
			known.count = Math.max(known.count, left);
			known.targets.add(body.target);
		});
	}
	return {
		commands: [...commands].flatMap(([event, { count, targets }]) =>
			isHookEvent(event)
				? Array.from({ length: count }, (_, number) => ({
						kind: "command" as const,
						event,
						matcher: matcherOf(targets),
						command: `${event} ${number}`,
						timeout,
						failClosed: false,
					}))
				: [],
		),
		processes: { run: (request) => run(request.input ?? "", batches, conductor), endAll: async () => {} },
		ofClients:
			batches.length === 0 && subscriptions.size === 0
				? null
				: [...subscriptions].flatMap(([subscriptionId, { event, targets, timeout: seconds }]) =>
						isHookEvent(event)
							? [{ kind: "client" as const, event, matcher: matcherOf(targets), timeout: seconds, subscriptionId }]
							: [],
					),
	};
}

function matcherOf(targets: ReadonlySet<string>): string {
	if (targets.has("")) return "";
	return `^(?:${[...targets].map((target) => target.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|")})$`;
}

async function run(input: string, batches: readonly Batch[], conductor: Conductor): Promise<RunOutcome> {
	const given: unknown = JSON.parse(input);
	const name = isRecord(given) ? given["hook_event_name"] : null;
	const batch = batches.find(
		({ event, left, score, triggeredAt }) => event === name && left > 0 && score.isMatched(triggeredAt),
	);
	const reason = batch?.reason ?? null;
	if (batch !== undefined) {
		batch.left -= 1;
		batch.reason = null;
		const { score, resolvedAt } = batch;
		if (resolvedAt !== null) await conductor.when(() => score.isReached(resolvedAt));
	}
	return {
		ended: { kind: "exited", exitCode: reason === null ? 0 : 2 },
		output: "",
		errorOutput: reason ?? "",
		outputBytes: 0,
		truncated: false,
		spilledTo: null,
	};
}
