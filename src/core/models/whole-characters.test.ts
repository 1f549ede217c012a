import { expect, it } from "vitest";
import {
	collectChunks,
	partsOf,
	piece,
	plainRequest,
	text,
	think,
	toolCall,
} from "../../../test/support/models/model-conversation.ts";
import { chunksOf } from "./chunk-streams.ts";
import type { ModelPart } from "./model.ts";
import { withWholeCharacters } from "./whole-characters.ts";

const end = { type: "done", usage: null, messageId: null } as const;

it.each<[name: string, given: ModelPart[], whole: ModelPart[]]>([
	["cut between texts", [text("a\ud83d"), text("\ude00b")], [text("a"), text("\u{1f600}b")]],
	["of which a text is only a half", [text("\ud83d"), text("\ude00")], [text("\u{1f600}")]],
	["cut in thoughts", [think("\ud83d"), think("\ude00")], [think("\u{1f600}")]],
	[
		"cut in arguments",
		[toolCall("c", "t", '"\ud83d'), piece("\ude00"), piece('"')],
		[toolCall("c", "t", '"'), piece("\u{1f600}"), piece('"')],
	],
	["before a text of nothing", [text("\ud83d"), text(""), text("\ude00")], [text(""), text("\u{1f600}")]],
	["that never comes", [text("a\ud83d"), think("b")], [text("a"), text("\ufffd"), think("b")]],
	["that never comes before a call", [text("\ud83d"), toolCall("c", "t")], [text("\ufffd"), toolCall("c", "t")]],
	["in the middle of a text", [text("a\ud83db\ude00c")], [text("a\ufffdb\ufffdc")]],
	["at the very end", [text("a\ud83d")], [text("a")]],
])("parts have whole characters for a pair %s", async (_name, given, whole) => {
	for (const chunks of [
		[{ type: "parts", parts: given } as const],
		given.map((part) => ({ type: "parts", parts: [part] }) as const),
	]) {
		const stream = withWholeCharacters(() => chunksOf(...chunks, end));
		const received = await collectChunks(stream(plainRequest, new AbortController().signal));
		expect([partsOf(received), received.at(-1)]).toEqual([whole, end]);
	}
});
