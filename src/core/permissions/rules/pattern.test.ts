import { describe, expect, it } from "vitest";
import { parseRulePattern } from "./pattern.ts";

const home = "/home/me";

describe("a pattern of a rule", () => {
	it.each([
		["Shell", "command"],
		["Bash(git diff:*)", "command"],
		["Shell(npm run *)", "command"],
		["Read", "file"],
		["ReadFile(~/notes/**)", "file"],
		["Edit(src/**)", "file"],
		["StrReplaceFile(/etc/hosts)", "file"],
		["WebFetch", "network"],
		["FetchURL(domain:*.example.com)", "network"],
		["WebSearch", "web-search"],
		["mcp__files", "mcp"],
		["mcp__files__read", "mcp"],
		["mcp__files__*", "mcp"],
		["mcp__*", "mcp"],
		["Plugin(say)", "plugin-tool"],
		["ClientTool", "client-tool"],
		["TaskStop", "task"],
	])("%s speaks of a %s", (text, kind) => {
		expect(parseRulePattern(text, home)).toMatchObject({ ok: true, pattern: { kind } });
	});

	it.each([
		["", "it must begin with one of Shell,"],
		["*", "it must begin with one of Shell,"],
		["run command", "it must begin with one of Shell,"],
		["bash(ls)", "it must begin with one of Shell,"],
		["toString", "it must begin with one of Shell,"],
		["Bash()", "there is nothing between the parentheses; write `Bash` alone for every call"],
		["Bash(ls", "it must begin with one of Shell,"],
		["Bash(rm*)", "rm:*"],
		["Bash(* --version)", ""],
		["Read(!x)", "a pattern cannot be negated"],
		["WebFetch(example.com)", "write `domain:` and a host name"],
		["WebFetch(domain:https://example.com)", "the host must be a name"],
		["WebFetch(domain:a*.com)", "the host must be a name"],
		["WebFetch(domain:*)", "the host must be a name"],
		["WebSearch(x)", "nothing can be in parentheses here"],
		["mcp__", "write `mcp__SERVER__TOOL`"],
		["mcp__a*", "write `mcp__SERVER__TOOL`"],
		["mcp__a__", "write `mcp__SERVER__TOOL`"],
		["mcp____a", "write `mcp__SERVER__TOOL`"],
		["Plugin(a*)", "a name has no `*`"],
		[`Read(${"x".repeat(3000)})`, "it is longer than 2000 characters"],
	])("%s is refused with what to write instead", (text, reason) => {
		expect(parseRulePattern(text, home)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
	});

	it.each([
		["Example.COM", "example.com"],
		["example.com.", "example.com"],
		["0x7f.1", "127.0.0.1"],
		["[2001:DB8::1]", "2001:db8::1"],
		["::ffff:192.0.2.1", "192.0.2.1"],
	])("has the host %s as %s", (written, name) => {
		expect(parseRulePattern(`WebFetch(domain:${written})`, home)).toEqual({
			ok: true,
			pattern: { kind: "network", host: { name, below: false } },
		});
	});
});
