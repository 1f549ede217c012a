// What every request of a turn has in common.
import type { ModelRequest } from "../models/model.ts";
import type { TurnDependencies } from "./dependencies.ts";

export function requestBasis({
	context,
	systemPrompt,
	instructions = [],
	sampling = {},
	cacheKey,
}: Pick<TurnDependencies, "context" | "systemPrompt" | "instructions" | "sampling" | "cacheKey">): Pick<
	ModelRequest,
	"systemPrompt" | "cacheKey" | "sampling"
> {
	return {
		systemPrompt: [systemPrompt ?? context.systemPrompt, ...instructions].filter((text) => text !== "").join("\n\n"),
		cacheKey,
		...(Object.keys(sampling).length === 0 ? {} : { sampling }),
	};
}
