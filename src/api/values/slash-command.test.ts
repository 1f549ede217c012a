import { describe, expect, it } from "vitest";
import { parseSlashCommand } from "./slash-command.ts";

describe("parseSlashCommand", () => {
	it.each([
		["/btw", "btw", ""],
		["  /btw what is this?  ", "btw", "what is this?"],
		["/btw\nfirst\nsecond\n", "btw", "first\nsecond"],
		["/btw\t tabs  inside ", "btw", "tabs  inside"],
		["/skill:my-skill do it", "skill:my-skill", "do it"],
		["/flow:a:b_2", "flow:a:b_2", ""],
		["/BTW x", "BTW", "x"],
		["/1 x", "1", "x"],
		["/-", "-", ""],
	])("reads %j", (text, name, argument) => {
		expect(parseSlashCommand(text)).toEqual({ name, argument });
	});

	it.each([
		"",
		"/",
		"/ btw",
		"btw",
		"what /btw is",
		"/usr/bin/env is a path",
		"/etc/hosts",
		"/readme.md",
		"/skill: do it",
		"/:skill",
		"/a::b",
		"//comment",
		"/btw? no",
		"/bü x",
	])("treats %j as a prompt", (text) => {
		expect(parseSlashCommand(text)).toBeNull();
	});
});
