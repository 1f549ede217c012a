import { expect, it } from "vitest";
import { toCallInput, toCallText } from "./call-arguments.ts";

it.each([
	["an object, as it was written", '{ "a":1,\n"b" : "ü" }', '{ "a":1,\n"b" : "ü" }'],
	["nothing", "", "{}"],
	["no text", null, "{}"],
	["blanks", "  \n", "{}"],
	["what is cut off", '{"path":"a', "{}"],
	["a list", '["a"]', "{}"],
	["null", "null", "{}"],
	["raw control characters, which the call ran with", '{"a":"one\ntwo"}', '{"a":"one\\ntwo"}'],
	["half a surrogate pair", '{"a":"x\\ud83d"}', '{"a":"x\ufffd"}'],
	["what nests too deep to be parsed again", `{"a":${"[".repeat(1001)}${"]".repeat(1001)}}`, "{}"],
])("arguments of an earlier call are an object: %s", (_name, text, sent) => {
	expect(toCallText(text)).toBe(sent);
	expect(toCallInput(text)).toEqual(JSON.parse(sent));
});
