// Content, display blocks and questions as the documents of several dialects describe them: the shapes and their texts.
// Each dialect has its own text for a kind of part as a whole.
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

export const partTexts = {
	"TextPart.text": "The text.",
	"ThinkPart.think": "The reasoning.",
	"ThinkPart.encrypted": "The provider's signature of it. A client may omit it.",
	"ImageURLPart.image_url": "The address.",
	"ImageURLPart.image_url.url": "A URL; it may be a `data:` URL.",
	"ImageURLPart.image_url.id": "Distinguishes images. A client may omit it.",
	"AudioURLPart.audio_url": "The address.",
	"AudioURLPart.audio_url.url": "A URL; it may be a `data:` URL.",
	"AudioURLPart.audio_url.id": "Distinguishes audio. A client may omit it.",
	"VideoURLPart.video_url": "The address.",
	"VideoURLPart.video_url.url": "A URL; it may be a `data:` URL.",
	"VideoURLPart.video_url.id": "Distinguishes videos. A client may omit it.",
} as const;

export const blockTexts = {
	DisplayBlock: "Something to show to a person.",
	BriefBlock: "One line.",
	"BriefBlock.text": "The line.",
	DiffBlock: "A change to a file; one block for each changed place.",
	"DiffBlock.path": "The file.",
	"DiffBlock.old_text": "The old text, with lines around it.",
	"DiffBlock.new_text": "The new text.",
	"DiffBlock.old_start": "Number of the first line of `old_text`.",
	"DiffBlock.new_start": "Number of the first line of `new_text`.",
	"DiffBlock.is_summary": "Whether the texts are line counts, because the change is too large to show.",
	TodoBlock: "The todo list.",
	"TodoBlock.items": "The items.",
	TodoItem: "An item of the todo list.",
	"TodoItem.title": "The text of the item.",
	"TodoItem.status": "Its status.",
	ShellBlock: "A command.",
	"ShellBlock.language": "The language of the command, for highlighting.",
	"ShellBlock.command": "The command.",
	BackgroundTaskBlock: "A background task.",
	"BackgroundTaskBlock.task_id": "The task.",
	"BackgroundTaskBlock.kind": "Its kind.",
	"BackgroundTaskBlock.status": "Its status.",
	"BackgroundTaskBlock.description": "What it is for.",
	UnknownBlock: "A block of any other type. The server sends it on with all keys but `type` under `data`.",
	"UnknownBlock.type": "Any other type.",
} as const;

export const questionTexts = {
	QuestionItem: "One question. Clients add a free answer to the options.",
	"QuestionItem.question": "The question.",
	"QuestionItem.header": "A short label.",
	"QuestionItem.options": "Two to four.",
	"QuestionItem.multi_select": "Whether several may be chosen.",
	"QuestionItem.body": "More about it, as Markdown.",
	"QuestionItem.other_label": "The label of the free answer.",
	"QuestionItem.other_description": "The description of the free answer.",
	QuestionOption: "One option.",
	"QuestionOption.label": "Its name, which is also the answer.",
	"QuestionOption.description": "What it means.",
} as const;
