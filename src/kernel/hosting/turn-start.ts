import type { CommandOf } from "../../api/commands.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { TurnStartOptions } from "../../api/values/turn-options.ts";

export function toTurnStart(
	input: UserInput,
	{ key, takeOver, trace, ...options }: TurnStartOptions = {},
): CommandOf<"turn.start"> {
	return {
		type: "turn.start",
		input,
		options,
		...(key === undefined ? {} : { key }),
		...(takeOver === undefined ? {} : { takeOver }),
		...(trace === undefined ? {} : { trace }),
	};
}
