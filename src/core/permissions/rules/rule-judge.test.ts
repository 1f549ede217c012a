import { describe, expect, it } from "vitest";
import type { Subject } from "../../../api/values/subject.ts";
import type { Decision } from "../policy.ts";
import { createRuleJudge } from "./rule-judge.ts";
import { readRules } from "./rule-reader.ts";

interface Given {
	readonly rules?: readonly (readonly [Decision, string])[];
	readonly grants?: readonly string[];
}

async function createJudge({ rules = [], grants = [] }: Given) {
	const declarations = rules.map(([decision, pattern]) => ({
		decision,
		pattern,
		reason: "",
		match: [],
		notMatch: [],
		line: null,
	}));
	const source = { scope: "user", file: "/share/config.toml", base: null, home: "/home/me" } as const;
	const read = await readRules(declarations, source);
	expect(read.problems).toEqual([]);
	return createRuleJudge({
		rules: read.rules,
		grants: () => grants,
		allowsReadOnly: "never",
		place: {
			home: "/home/me",
			roots: async () => ["/work"],
			resolve: async (path) => path,
			repositoryProgram: async () => null,
		},
	});
}

async function decide(given: Given, ...subjects: readonly Subject[]) {
	const verdict = await (await createJudge(given)).decide({ action: "act", subjects, byDefault: "ask" });
	return verdict?.decision ?? null;
}

const read = (path: string, named?: string): Subject => ({
	kind: "file",
	operation: "read",
	path,
	...(named === undefined ? {} : { named }),
});
const write = (path: string): Subject => ({ kind: "file", operation: "write", path });
const edit = (path: string): Subject => ({ kind: "file", operation: "edit", path });
const page = (url: string): Subject => ({ kind: "network", url });
const mcp = (server: string, tool: string): Subject => ({ kind: "mcp", server, tool, arguments: {} });
const paint: Subject = { kind: "client-tool", name: "paint", arguments: {} };

describe("rules over what is no command", () => {
	it.each<[string, Given["rules"], Subject, Decision | null]>([
		["a file that a rule allows", [["allow", "Write(src/**)"]], write("/work/src/a"), "allow"],
		["a file that is edited", [["allow", "Write(src/**)"]], edit("/work/src/a"), "allow"],
		["a file elsewhere", [["allow", "Write(src/**)"]], write("/work/b"), null],
		["an edit where reading is denied", [["deny", "Read(src/**)"]], edit("/work/src/a"), "deny"],
		[
			"an edit that is allowed where reading is asked about",
			[
				["allow", "Write"],
				["ask", "Read(src/**)"],
			],
			edit("/work/src/a"),
			"ask",
		],
		[
			"an edit that is denied where reading is asked about",
			[
				["deny", "Write"],
				["ask", "Read(src/**)"],
			],
			edit("/work/src/a"),
			"deny",
		],
		["an edit where reading is allowed", [["allow", "Read"]], edit("/work/src/a"), null],
		["a file that is replaced where reading is denied", [["deny", "Read"]], write("/work/a"), null],
		["a denied file in another case", [["deny", "Read(Secret/*.Key)"]], read("/work/SECRET/a.kEY"), "deny"],
		["a denied file in another Unicode form", [["deny", "Read(caf\u00e9)"]], read("/work/cafe\u0301"), "deny"],
		["a denied file whose rule has another form", [["deny", "Read(cafe\u0301)"]], read("/work/caf\u00e9"), "deny"],
		["a file asked about in another case", [["ask", "Write(makefile)"]], write("/work/Makefile"), "ask"],
		["a denied file below a root in another case", [["deny", "Read(a/**)"]], read("/WORK/a/b"), "deny"],
		["an allowed file in another case", [["allow", "Write(src/**)"]], write("/work/SRC/a"), null],
		["an allowed file in another Unicode form", [["allow", "Write(caf\u00e9)"]], write("/work/cafe\u0301"), null],
		["a file that is read where writing is spoken of", [["deny", "Write"]], read("/work/a"), null],
		[
			"the worst of two",
			[
				["allow", "Write(src/**)"],
				["deny", "Write(*.pem)"],
			],
			write("/work/src/a.pem"),
			"deny",
		],
		[
			"the worst of two, in the other order",
			[
				["deny", "Write(*.pem)"],
				["allow", "Write"],
			],
			write("/work/a.pem"),
			"deny",
		],
		[
			"ask over allow",
			[
				["ask", "Read(/etc)"],
				["allow", "Read"],
			],
			read("/etc/passwd"),
			"ask",
		],
		["a link that is allowed, to a file that is not", [["allow", "Read(a)"]], read("/etc/x", "/work/a"), null],
		[
			"a link and its target that are allowed",
			[
				["allow", "Read(a)"],
				["allow", "Read(/etc)"],
			],
			read("/etc/x", "/work/a"),
			"allow",
		],
		[
			"a link that is denied",
			[
				["allow", "Read"],
				["deny", "Read(a)"],
			],
			read("/etc/x", "/work/a"),
			"deny",
		],
		["a page", [["allow", "WebFetch(domain:example.com)"]], page("https://EXAMPLE.com./x"), "allow"],
		["an address in another notation", [["deny", "WebFetch(domain:192.0.2.1)"]], page("http://0xc0000201/"), "deny"],
		["an address within another", [["deny", "WebFetch(domain:192.0.2.1)"]], page("http://[::ffff:c000:201]/"), "deny"],
		["an address of IPv6", [["deny", "WebFetch(domain:2001:db8::1)"]], page("http://[2001:DB8:0::1]:80/"), "deny"],
		["a page below a host", [["allow", "WebFetch(domain:example.com)"]], page("https://a.example.com/x"), null],
		[
			"a page below a host that is named so",
			[["deny", "WebFetch(domain:*.example.com)"]],
			page("https://a.example.com"),
			"deny",
		],
		["a host that ends alike", [["allow", "WebFetch(domain:*.example.com)"]], page("https://badexample.com"), null],
		[
			"a host in front of an at sign",
			[["allow", "WebFetch(domain:example.com)"]],
			page("https://example.com@evil.test"),
			null,
		],
		["a tool of a server", [["allow", "mcp__files__read"]], mcp("files", "read"), "allow"],
		["another tool of the server", [["allow", "mcp__files__read"]], mcp("files", "write"), null],
		["a whole server", [["deny", "mcp__files"]], mcp("files", "write"), "deny"],
		["a server whose name begins alike", [["deny", "mcp__file"]], mcp("files", "write"), null],
		["every server", [["ask", "mcp__*"]], mcp("files", "write"), "ask"],
		["a denied tool in another case", [["deny", "mcp__Files__WRITE"]], mcp("files", "write"), "deny"],
		["a server asked about in another case", [["ask", "mcp__files"]], mcp("FILES", "write"), "ask"],
		["an allowed tool in another case", [["allow", "mcp__Files__WRITE"]], mcp("files", "write"), null],
		["a server that is called like a tool of another", [["allow", "mcp__a__b"]], mcp("a__b", "write"), null],
		["a tool that is called like one of another server", [["allow", "mcp__a__b__c"]], mcp("a__b", "c"), null],
		["a denied server that is called like a tool", [["deny", "mcp__a__b"]], mcp("a__b", "write"), "deny"],
		["every server, however it is called", [["allow", "mcp__*"]], mcp("a__b", "write"), "allow"],
		["a client's tool in another case", [["deny", "ClientTool(Paint)"]], paint, "deny"],
		["a client's tool that is allowed in another case", [["allow", "ClientTool(Paint)"]], paint, null],
		["a client's tool with blanks around its name", [["deny", "ClientTool( paint )"]], paint, "deny"],
		["a search", [["deny", "WebSearch"]], { kind: "web-search", query: "x" }, "deny"],
		["a client's tool", [["deny", "ClientTool(paint)"]], paint, "deny"],
		[
			"a plugin's tool of the same name",
			[["deny", "ClientTool(paint)"]],
			{ kind: "plugin-tool", name: "paint", directory: "/p", arguments: {} },
			null,
		],
		["a task", [["allow", "TaskStop"]], { kind: "task", operation: "stop", id: "x" }, "allow"],
	])("%s", async (_name, rules, subject, decision) => {
		expect(await decide({ rules: rules ?? [] }, subject)).toBe(decision);
	});

	it("allow a call only when all that it acts on is allowed", async () => {
		const rules = [["allow", "Write(src/**)"]] as const;
		expect(await decide({ rules }, write("/work/src/a"), write("/work/src/b"))).toBe("allow");
		expect(await decide({ rules }, write("/work/src/a"), write("/work/b"))).toBeNull();
		expect(await decide({ rules: [...rules, ["deny", "Write(b)"]] }, write("/work/src/a"), write("/work/b"))).toBe(
			"deny",
		);
		expect(await decide({ rules })).toBeNull();
	});

	it("name themselves in the reason", async () => {
		const judge = await createJudge({ rules: [["deny", "Write"]] });
		const verdict = await judge.decide({ action: "act", subjects: [write("/a")], byDefault: "ask" });
		expect(verdict).toEqual({
			decision: "deny",
			by: "rule",
			reason: "The user rule `Write` (/share/config.toml) denies it.",
		});
	});
});

describe("approvals for the session", () => {
	it("allow what they cover, and are overruled by rules that ask or deny", async () => {
		const grants = ["Write(/work/src/**)"];
		expect(await decide({ grants }, write("/work/src/a"))).toBe("allow");
		expect(await decide({ grants }, write("/work/b"))).toBeNull();
		expect(await decide({ grants, rules: [["ask", "Write"]] }, write("/work/src/a"))).toBe("ask");
	});

	it("of earlier versions count by the name of the act, unless that covers too much", async () => {
		const judge = await createJudge({ grants: ["mcp:note", "edit file"] });
		const by = async (action: string, subject: Subject) =>
			(await judge.decide({ action, subjects: [subject], byDefault: "ask" }))?.decision ?? null;
		expect(await by("mcp:note", mcp("srv", "note"))).toBe("allow");
		expect(await by("edit file", write("/work/a"))).toBeNull();
	});

	it.each<Subject>([
		mcp("srv", "*"),
		mcp("a__b", "c"),
		page("http://*.example.com/"),
		{ kind: "client-tool", name: "*", arguments: {} },
		write(`/work/${"x".repeat(1100)}/a`),
	])("of %j cannot be stored, as its pattern would cover more or nothing", async (subject) => {
		const proposal = await (await createJudge({})).propose({ action: "act", subjects: [subject], byDefault: "ask" });
		expect(proposal).toMatchObject({ kind: "once" });
	});

	it.each<[Subject, string]>([
		[write("/work/src/a.ts"), "Write(/work/src/**)"],
		[write("/work/a.ts"), "Write(/work/a.ts)"],
		[edit("/work/src/.env"), "Write(/work/src/.env)"],
		[write("/etc/hosts"), "Write(/etc/hosts)"],
		[write("/work/a*[b]?.ts"), "Write(/work/a[*][[]b][?].ts)"],
		[read("/etc/hosts"), "Read(/etc/hosts)"],
		[page("https://example.com/a"), "WebFetch(domain:example.com)"],
		[mcp("srv", "note"), "mcp__srv__note"],
		[{ kind: "plugin-tool", name: "say", directory: "/p", arguments: {} }, "Plugin(say)"],
		[{ kind: "client-tool", name: "paint", arguments: {} }, "ClientTool(paint)"],
		[{ kind: "task", operation: "stop", id: "x" }, "TaskStop"],
	])("of %j would store what covers it and is shown", async (subject, pattern) => {
		const proposal = await (await createJudge({})).propose({ action: "act", subjects: [subject], byDefault: "ask" });
		expect(proposal).toEqual({ kind: "grants", patterns: [pattern] });
		expect(await decide({ grants: [pattern] }, subject)).toBe("allow");
	});
});

describe("commands that change nothing", () => {
	const command = (text: string): Subject => ({ kind: "command", text, cwd: "/work" });
	const changesNothing = async (...subjects: readonly Subject[]) =>
		await (await createJudge({ rules: [["deny", "Shell(ls:*)"]] })).changesNothing(subjects);

	it.each(["ls -la", "git status", "cat a.txt | grep -n two", "git diff --stat", "rg TODO"])(
		"are those that only read, whatever a rule says: %s",
		async (text) => {
			expect(await changesNothing(command(text))).toBe(true);
		},
	);

	it.each([
		"cat a.txt > b.txt",
		"ls | tee list",
		"npm test",
		"find . -delete",
		"sort -o a.txt a.txt",
		"sed -i s/a/b/ a.txt",
		"./ls",
		"ls() { rm a; }; ls",
		"X=$(touch a) ls",
		"git commit -m x",
		"",
	])("are none of those that may write: %s", async (text) => {
		expect(await changesNothing(command(text))).toBe(false);
	});

	it("are not what other calls do", async () => {
		expect(await changesNothing()).toBe(false);
		expect(await changesNothing(paint)).toBe(false);
		expect(await changesNothing(command("ls"), write("/work/a"))).toBe(false);
	});
});
