import type { Hook } from "../../api/values/hooks/hook.ts";
import { allowed, type HookDecision, type HookPoint } from "./hook.ts";
import type { Matchers } from "./matchers.ts";

export interface SelectedHook {
	readonly hook: Hook;
	/** Why its matcher is invalid, as a clause: it cannot run, but must not be skipped either. */
	readonly refusal: string | null;
}

export interface Selection {
	readonly selected: readonly SelectedHook[];
	readonly unusable: readonly { readonly hook: Hook; readonly reason: string }[];
}

/** Identical commands run once. A hook with an invalid matcher is skipped, or always selected if it fails closed. */
export async function selectHooks(
	hooks: readonly Hook[],
	{ event, target }: HookPoint,
	matchers: Pick<Matchers, "find">,
): Promise<Selection> {
	const commands = new Map<string, { readonly index: number; readonly failClosed: boolean }>();
	const selected: SelectedHook[] = [];
	const unusable: { hook: Hook; reason: string }[] = [];
	for (const hook of hooks) {
		if (hook.event !== event) continue;
		const result = await matchers.find(hook.matcher, target);
		if (!result.ok) unusable.push({ hook, reason: result.reason });
		const refusal = result.ok ? null : result.reason;
		if (hook.kind === "client") {
			if (result.ok && result.isFound) selected.push({ hook, refusal });
			continue;
		}
		if (result.ok ? !result.isFound : !hook.failClosed) continue;
		const earlier = commands.get(hook.command);
		if (earlier !== undefined && (earlier.failClosed || !hook.failClosed)) continue;
		const index = earlier?.index ?? selected.length;
		selected[index] = { hook, refusal };
		commands.set(hook.command, { index, failClosed: hook.failClosed });
	}
	return { selected, unusable };
}

/** The first blocking decision in hook order, else allow. */
export function combineDecisions(decisions: readonly HookDecision[]): HookDecision {
	return decisions.find(({ action }) => action === "block") ?? allowed;
}
