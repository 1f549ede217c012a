// Which hooks run at a point, and what their decisions come to.
import { allowed, type Hook, type HookDecision, type HookPoint } from "./hook.ts";

/** The hooks of a point in their order; of identical commands the first alone. */
export function selectHooks(hooks: readonly Hook[], { event, target }: HookPoint): readonly Hook[] {
	const commands = new Set<string>();
	return hooks.filter((hook) => {
		if (hook.event !== event || !matches(hook.matcher, target)) return false;
		if (hook.kind === "client") return true;
		const isNew = !commands.has(hook.command);
		commands.add(hook.command);
		return isNew;
	});
}

function matches(matcher: string, target: string): boolean {
	if (matcher === "") return true;
	try {
		return new RegExp(matcher).test(target);
	} catch {
		return false;
	}
}

/** The first blocking decision, in the order of the hooks, or allow. */
export function combineDecisions(decisions: readonly HookDecision[]): HookDecision {
	return decisions.find(({ action }) => action === "block") ?? allowed;
}
