// Tools that do nothing but count: two that need an approval, one that needs none, one that takes its time.
import type { Clock } from "../../src/base/clock.ts";
import { sleep } from "../../src/base/clock.ts";
import { isRecord } from "../../src/base/json.ts";
import { type ToolReturn, toolSuccess } from "../../src/events/content.ts";
import type { OpenedCall, Tool } from "../../src/tools/tool.ts";

/** An effect that began. */
export interface Effect {
	readonly toolCallId: string;
	readonly action: string;
}

/** `onEffect` is called when an effect begins. */
export function createCountingTools(clock: Clock, onEffect: (effect: Effect) => void): readonly Tool[] {
	return [
		countingTool("Touch", "touch", clock, onEffect),
		countingTool("Poke", "poke", clock, onEffect),
		countingTool("Look", null, clock, onEffect),
		countingTool("Doze", null, clock, onEffect),
	];
}

/** Milliseconds `Doze` takes. */
export const dozing = 5000;

function countingTool(name: string, action: string | null, clock: Clock, onEffect: (effect: Effect) => void): Tool {
	return {
		name,
		description: name,
		parameters: async () => ({ type: "object" }),
		async open(value, { toolCallId }): Promise<OpenedCall> {
			if (!isRecord(value)) return { ok: false, issue: "an object is needed" };
			return {
				ok: true,
				preparation: {
					kind: "ready",
					approval: action === null ? null : { action, description: `${name} it`, display: [] },
					hasEffect: action !== null,
					target: action === null ? null : "the thing",
					async execute(signal): Promise<ToolReturn> {
						if (action !== null) onEffect({ toolCallId, action });
						if (name === "Doze") await sleep(clock, dozing, signal);
						return toolSuccess({ output: `${name} done` });
					},
				},
			};
		},
	};
}
