import { describe, expect, it } from "vitest";
import {
	assistant,
	plainRequest,
	text,
	toolCall,
	toolResult,
	user,
} from "../../../../test/support/models/model-conversation.ts";
import type { ModelRequest } from "../model.ts";
import { withAcceptedNames } from "./tool-names.ts";

const tool = (name: string) => ({ name, description: "", parameters: {} });
const request = (names: readonly string[], called: readonly string[] = []): ModelRequest => ({
	...plainRequest,
	tools: names.map(tool),
	messages: called.flatMap((name, index) => [
		user(text("a")),
		assistant([], [toolCall(`c${index}`, name)]),
		{ ...toolResult(`c${index}`, text("r")), name },
	]),
});
const none = () => false;

describe("names of tools", () => {
	it("stay as they are where providers accept them, and so does the request", () => {
		const given = request(["ReadFile", "a_b-9", "_x"], ["ReadFile", "Gone"]);
		expect(withAcceptedNames(given, none).request).toBe(given);
	});

	it.each([
		["a point", "ns.read", "ns_read"],
		["a slash", "ns/read", "ns_read"],
		["spaces and marks", "Read File<|x|>\n", "Read_File__x___"],
		["a digit at the beginning", "9lives", "_9lives"],
		["nothing", "", "_"],
		["too many characters", "x".repeat(300), "x".repeat(64)],
		["other letters", "größe", "gr__e"],
	])("are spelled with what providers accept: %s", (_name, name, spelled) => {
		const { request: sent, named } = withAcceptedNames(request([name], [name]), none);
		expect(sent.tools.map((each) => each.name)).toEqual([spelled]);
		expect(sent.messages[1]?.toolCalls?.[0]?.function.name).toBe(spelled);
		expect(sent.messages[2]?.name).toBe(spelled);
		expect(named(toolCall("c", spelled))).toEqual(toolCall("c", name));
		expect(named(toolCall("c", "ReadFile"))).toEqual(toolCall("c", "ReadFile"));
	});

	it("are different for different tools, and never that of another one", () => {
		const long = "x".repeat(64);
		const { request: sent, named } = withAcceptedNames(
			request(["a.b", "a/b", "a_b", `${long}y`, `${long}z`], ["a b"]),
			none,
		);
		const names = sent.tools.map(({ name }) => name);
		expect(names).toEqual(["a_b_2", "a_b_3", "a_b", long, `${"x".repeat(62)}_2`]);
		expect(sent.messages[1]?.toolCalls?.[0]?.function.name).toBe("a_b_4");
		expect(named(toolCall("c", "a_b"))).toEqual(toolCall("c", "a_b"));
	});

	it("that the provider gives a meaning stay", () => {
		const given = request(["$web_search"]);
		expect(withAcceptedNames(given, (name) => name.startsWith("$")).request).toBe(given);
	});
});
