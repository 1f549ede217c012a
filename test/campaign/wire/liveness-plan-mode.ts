// What must hold of plan mode in every interleaving, checked on its transcript after the fact (wire-protocol §2.5).
import { isRecord } from "../../../src/base/json.ts";
import { eventOf, type WireActor } from "./liveness-client.ts";
import type { Delivered } from "./liveness-rules.ts";

export interface PlanCircumstances {
	/** Whether the input was not ended under what runs. */
	readonly isOpen: boolean;
	/** What the session has at the end; null when that is not to be compared. */
	readonly planMode: boolean | null;
}

/** Each switch is delivered before it is answered, and what was delivered last is how it is. */
export function findPlanModeFaults(
	client: WireActor,
	delivered: readonly Delivered[],
	{ planMode, isOpen }: PlanCircumstances,
): readonly string[] {
	const faults: string[] = [];
	const statuses = client.transcript.flatMap(({ from, message }, at) => {
		const { type, payload } = eventOf(message);
		const mode = from === "server" && type === "StatusUpdate" ? payload["plan_mode"] : null;
		return typeof mode === "boolean" ? [{ at, mode }] : [];
	});
	for (const { id, method, params, at, atRest, response } of client.sent) {
		const result = response?.message["result"];
		if (method !== "set_plan_mode" || response === null || !isRecord(result) || !isOpen) continue;
		const between = statuses.filter((status) => status.at > at && status.at < response.at);
		if (!between.some(({ mode }) => mode === result["plan_mode"])) faults.push(`${id} is answered before its event`);
		if (atRest && result["plan_mode"] !== params["enabled"])
			faults.push(`${id} is answered ${String(result["plan_mode"])}`);
	}
	const last = delivered.findLast(({ entry }) => {
		const { type, payload } = eventOf(entry.message);
		return type === "StatusUpdate" && typeof payload["plan_mode"] === "boolean";
	});
	const known = last === undefined ? false : eventOf(last.entry.message).payload["plan_mode"];
	if (planMode !== null && known !== planMode) faults.push(`plan mode is ${planMode}, delivered was ${String(known)}`);
	const isAsked = client.interactions.some(({ type }) => type === "QuestionRequest");
	const wanted = client.sent.findLast(({ method }) => method === "set_plan_mode")?.params;
	if (planMode !== null && !isAsked && wanted !== undefined && wanted["enabled"] !== planMode) {
		faults.push(`plan mode is ${planMode}, though ${String(wanted["enabled"])} was asked for last`);
	}
	return faults;
}
