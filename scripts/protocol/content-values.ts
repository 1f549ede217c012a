// Content, display blocks and questions as documents of several dialects show them: the shapes, and what is said of them.
// What is said of a kind of part as a whole is each dialect's own.

import * as content from "../../src/events/content.ts";
import { questionItemSchema, questionOptionSchema } from "../../src/events/interaction.ts";
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
	"ThinkPart.think": "The thought.",
	"ThinkPart.encrypted": "The provider's signature of it. A client may leave it out.",
	"ImageURLPart.image_url": "Where it is.",
	"ImageURLPart.image_url.url": "A URL; it may be a `data:` URL.",
	"ImageURLPart.image_url.id": "Tells images apart. A client may leave it out.",
	"AudioURLPart.audio_url": "Where it is.",
	"AudioURLPart.audio_url.url": "A URL; it may be a `data:` URL.",
	"AudioURLPart.audio_url.id": "Tells sounds apart. A client may leave it out.",
	"VideoURLPart.video_url": "Where it is.",
	"VideoURLPart.video_url.url": "A URL; it may be a `data:` URL.",
	"VideoURLPart.video_url.id": "Tells videos apart. A client may leave it out.",
} as const;

export const blockTexts = {
	DisplayBlock: "Something to show to a person.",
	BriefBlock: "One line.",
	"BriefBlock.text": "The line.",
	DiffBlock: "A change to a file: one block for each place.",
	"DiffBlock.path": "The file.",
	"DiffBlock.old_text": "What was there, with lines around it.",
	"DiffBlock.new_text": "What is there instead.",
	"DiffBlock.old_start": "The line with which `old_text` begins.",
	"DiffBlock.new_start": "The line with which `new_text` begins.",
	"DiffBlock.is_summary": "Whether the texts are counts of lines, the change being too large.",
	TodoBlock: "The list of things to do.",
	"TodoBlock.items": "The things.",
	TodoItem: "A thing to do.",
	"TodoItem.title": "What it is.",
	"TodoItem.status": "How far it is.",
	ShellBlock: "A command.",
	"ShellBlock.language": "The language of the command, for highlighting.",
	"ShellBlock.command": "The command.",
	BackgroundTaskBlock: "Work that goes on in the background.",
	"BackgroundTaskBlock.task_id": "The task.",
	"BackgroundTaskBlock.kind": "What it is.",
	"BackgroundTaskBlock.status": "How far it is.",
	"BackgroundTaskBlock.description": "What it is for.",
	UnknownBlock: "A block of any other type. It is told again with all keys but `type` under `data`.",
	"UnknownBlock.type": "A type that is none of the above.",
} as const;

export const questionTexts = {
	QuestionItem: "One question. Clients add a free answer to the options.",
	"QuestionItem.question": "The question.",
	"QuestionItem.header": "A short label.",
	"QuestionItem.options": "Two to four.",
	"QuestionItem.multi_select": "Whether several may be chosen.",
	"QuestionItem.body": "More about it, as Markdown.",
	"QuestionItem.other_label": "What the free answer is to be called.",
	"QuestionItem.other_description": "What is to be said of the free answer.",
	QuestionOption: "One option.",
	"QuestionOption.label": "Its name, which is also the answer.",
	"QuestionOption.description": "What it means.",
} as const;
