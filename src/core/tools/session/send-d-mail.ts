import * as v from "valibot";
import { toolError, toolSuccess } from "../../../api/values/content.ts";
import { integer } from "../argument-schemas.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, readOnly } from "../tool-definition.ts";
import { mailToolName } from "../tool-paths.ts";

const description = `Send a message to yourself in the past, at an earlier checkpoint of this conversation.

Everything after the checkpoint disappears from the conversation, and you go on from there knowing only what the message says. Files, processes and whatever else you changed stay as they are.

- Checkpoints are marked \`CHECKPOINT n\` in the conversation.
- Use it when much was read or tried for a small result: a large file of which a few lines matter, a search, a wrong way. It gives the room back.
- Write down all that you need: what you were doing, what you found, what you changed, what to do next. The person sees nothing of it, so do not address them.
- One message in a step. Do not combine it with another call whose result you want to keep.`;

const schema = v.object({
	message: v.pipe(v.string(), v.description("What you will know, in full.")),
	checkpoint_id: v.pipe(integer(), v.minValue(0), v.description("The number of the checkpoint to go back to.")),
});

const brief = "Failed to send D-Mail";

export function createSendDMail({ mail }: Pick<ToolEnvironment, "mail">): Tool {
	return defineTool({
		name: mailToolName,
		description,
		schema,
		prepare: ({ message, checkpoint_id: checkpoint }) =>
			readOnly(async () => {
				switch (mail.send(message, checkpoint)) {
					case "sent":
						return toolSuccess({
							message: "The message is sent. If you read this, it did not arrive: a call of the same step was refused.",
						});
					case "already-sent":
						return toolError("A message was sent in this step already; there can be one only.", brief);
					case "no-such-checkpoint":
						return toolError(`There is no checkpoint ${checkpoint} in this conversation.`, brief);
				}
			}),
	});
}
