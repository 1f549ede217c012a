// The shapes of content, display blocks and questions in the documents of several dialects.
import * as content from "../../src/api/values/content.ts";
import { questionItemSchema, questionOptionSchema } from "../../src/api/values/interaction.ts";
import type { Value } from "./description.ts";

type Values = Readonly<Record<string, Value>>;

export const partValues: Values = {
	ContentPart: { schema: content.contentPartSchema },
	TextPart: { schema: content.textPartSchema },
	ThinkPart: { schema: content.thinkPartSchema },
	ImageURLPart: { schema: content.imagePartSchema },
	AudioURLPart: { schema: content.audioPartSchema },
	VideoURLPart: { schema: content.videoPartSchema },
};

export const blockValues: Values = {
	DisplayBlock: { schema: content.displayBlockSchema },
	BriefBlock: { schema: content.briefBlockSchema },
	DiffBlock: { schema: content.diffBlockSchema },
	TodoBlock: { schema: content.todoBlockSchema },
	TodoItem: { schema: content.todoSchema },
	ShellBlock: { schema: content.shellBlockSchema },
	BackgroundTaskBlock: { schema: content.backgroundTaskBlockSchema },
	UnknownBlock: { schema: content.unknownBlockSchema },
};

export const questionValues: Values = {
	QuestionItem: { schema: questionItemSchema },
	QuestionOption: { schema: questionOptionSchema },
};
