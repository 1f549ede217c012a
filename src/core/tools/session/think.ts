import * as v from "valibot";
import { toolSuccess } from "../../../api/values/content.ts";
import type { Tool } from "../tool.ts";
import { defineTool, readOnly } from "../tool-definition.ts";

const description =
	"Write down a thought. Nothing is looked up and nothing changes; use it to reason about a hard problem or to keep an idea in view.";

const schema = v.object({ thought: v.pipe(v.string(), v.description("The thought.")) });

export function createThink(): Tool {
	return defineTool({
		name: "Think",
		description,
		schema,
		prepare: () => readOnly(async () => toolSuccess({ message: "Thought noted." })),
	});
}
