import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { history, undocumented } from "../../src/formats/history.ts";
import { envelopeRules } from "../../src/frontends/kimi/envelope.ts";
import { readExamples, toValue } from "../../test/support/protocol/document-examples.ts";
import { fitting } from "../../test/support/protocol/published-schema.ts";
import { readTranscripts } from "../../test/support/transcripts/transcript-files.ts";
import { acp } from "./acp.ts";
import { clientShapes, errorCodes, type ProtocolDescription, serverShapes, typedMessage } from "./description.ts";
import { descriptions } from "./descriptions.ts";
import { type JsonSchema, toDefinitions } from "./json-schema.ts";
import { kimiWire } from "./kimi-wire.ts";
import { legacy } from "./legacy.ts";
import { toMarkdown } from "./markdown.ts";

const line = (method: string, params: unknown, id: unknown = "1") => ({ jsonrpc: "2.0", id, method, params });

describe("the JSON Schema of Kimi Wire", () => {
	const fits = fitting(kimiWire, "ClientLine");

	it("accepts the lines that the documents let clients send, and none of the others in them", () => {
		// An error may be the answer of either side.
		const examples = (document: string) => readExamples(document).filter((example) => !example.includes('"error"'));
		const clients = (document: string) => examples(document).filter((example) => fits(toValue(example)));
		const methods = ["initialize", "prompt", "cancel"];
		const later = ["initialize", "prompt", "replay", "steer", "set_plan_mode", "cancel"];
		const called = (document: string) =>
			clients(document).flatMap((example) => /"method": "([^"]+)"/.exec(example)?.[1] ?? []);
		expect([called("wire-1.1"), called("wire-1.7")]).toEqual([methods, later]);
		// After them: an approval and a tool call that are answered, and in 1.7 a question twice.
		expect([clients("wire-1.1").length, clients("wire-1.7").length]).toEqual([3 + 2, 6 + 4]);
		expect(clients("wire-1.0").map((example) => example.includes("ApprovalRequestResolved"))).toEqual([true]);
	});

	it.each<[string, unknown]>([
		["a method nobody knows", line("fly", {})],
		["an id that is a number", line("cancel", {}, 1)],
		["no id", { jsonrpc: "2.0", method: "cancel" }],
		["no input", line("prompt", {})],
		["an input of no kind", line("prompt", { user_input: [{ type: "file" }] })],
		["a handshake without a version", line("initialize", {})],
		[
			"tools without schema",
			line("initialize", { protocol_version: "1", external_tools: [{ name: "t", description: "" }] }),
		],
		["another version of JSON-RPC", { jsonrpc: "1.0", id: "1", method: "cancel" }],
		["an answer to nothing", { jsonrpc: "2.0", id: "1", result: { response: "approve" } }],
		["an event that is no answer", { jsonrpc: "2.0", method: "event", params: { type: "TurnEnd", payload: {} } }],
		[
			"a result without display",
			{
				id: "1",
				result: { tool_call_id: "1", return_value: { is_error: false, output: "", message: "" } },
			},
		],
	])("refuses %s", (_name, value) => expect(fits(value)).toBe(false));

	it("requires fields of the server that clients may omit", () => {
		const shell = { type: "diff", path: "/a", old_text: "", new_text: "x" };
		const answer = { tool_call_id: "1", return_value: { is_error: false, output: "", message: "", display: [shell] } };
		expect(fits({ id: "1", result: answer })).toBe(true);
		const delivered = { jsonrpc: "2.0", method: "event", params: { type: "ToolResult", payload: answer } };
		const fitsServer = fitting(kimiWire, "ServerLine");
		expect(fitsServer(delivered)).toBe(false);
		const extras = { extras: null, display: [] };
		const payload = { ...answer, return_value: { ...answer.return_value, ...extras } };
		expect(fitsServer({ ...delivered, params: { ...delivered.params, payload } })).toBe(true);
	});
});

describe("the JSON Schema of the legacy dialect", () => {
	const fits = fitting(legacy, "ClientLine");

	it.each<[string, unknown, boolean]>([
		["run", line("run", { input: "go" }), true],
		["run by the other name", line("run", { prompt: "go" }), true],
		["interrupt without id", { jsonrpc: "2.0", method: "interrupt" }, true],
		["run without id", { jsonrpc: "2.0", method: "run", params: { input: "go" } }, false],
		["run without input", line("run", {}), false],
		["no version", { id: "1", method: "interrupt" }, false],
		["a key of no meaning", { ...line("interrupt", {}), more: 1 }, false],
		["an answer", { jsonrpc: "2.0", id: "1", result: { response: "reject" } }, true],
	])("%s: %s", (_name, value, isLine) => expect(fits(value)).toBe(isLine));
});

describe("the documents", () => {
	it.each(descriptions.map((description) => [description.name, description] as const))(
		"of %s show lines that are what they say",
		(_name, description) => {
			const shown = toMarkdown(description).matchAll(/^([→←]) (.*)$/gm);
			const sides = { "→": fitting(description, "ClientLine"), "←": fitting(description, "ServerLine") };
			let count = 0;
			for (const [, arrow = "", text = ""] of shown) {
				const fits = arrow === "→" ? sides["→"] : sides["←"];
				expect([text, fits(JSON.parse(text))]).toEqual([text, true]);
				count += 1;
			}
			expect(count).toBeGreaterThan(3);
		},
	);

	it.each(descriptions.map((description) => [description.name, description] as const))(
		"of %s link to headings that are there",
		(_name, description) => {
			const text = toMarkdown(description);
			const headings = new Set(
				[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
					heading
						.toLowerCase()
						.replace(/[^a-z0-9_ -]/g, "")
						.replaceAll(" ", "-"),
				),
			);
			const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = ""]) => anchor);
			expect(links.filter((anchor) => !headings.has(anchor))).toEqual([]);
			expect(links.length).toBeGreaterThan(10);
		},
	);

	it("describe every method, event and shape, and nothing that does not exist", () => {
		const { "TurnBegin.user_input": _, ...less } = kimiWire.texts;
		expect(() => toMarkdown({ ...kimiWire, texts: less })).toThrow("there is no text for TurnBegin.user_input");
		const more = { ...kimiWire.texts, "TurnBegin.mood": "How it feels." };
		expect(() => toMarkdown({ ...kimiWire, texts: more })).toThrow("nothing is called TurnBegin.mood");
	});

	it("show an example of every method, event and request where they show any", () => {
		const { plan: _, ...fewer } = acp.examples ?? {};
		expect(() => toMarkdown({ ...acp, examples: fewer })).toThrow("there is no example of plan");
		const more = { ...acp.examples, "session/fly": "→ {}" };
		expect(() => toMarkdown({ ...acp, examples: more })).toThrow("nothing is called session/fly");
	});

	it("show the version of what came later", () => {
		const text = toMarkdown(kimiWire);
		expect(text).toMatch(/^\| `plan_mode` \| boolean or null \| 1\.4 \| /m);
		expect(text).toMatch(/^\| \[`StepRetry`\]\(#stepretry\) \| 1\.10 \| /m);
		expect(text).toMatch(/^\| `mcp_status` \| .* \| undocumented \| /m);
	});
});

describe("the history", () => {
	it("names only messages and methods that exist", () => {
		const { methods, events, requests } = kimiWire.protocol;
		const definitions = {
			...toDefinitions(serverValues(kimiWire), "server"),
			...toDefinitions(serverShapes(kimiWire), "server"),
			...toDefinitions(clientShapes(kimiWire), "client"),
		};
		const isThere = (what: string | number): boolean => {
			if (typeof what === "number") return errorCodes(kimiWire).includes(what);
			if (what in methods || what in events || what in requests || what in definitions) return true;
			const [shape = "", field = ""] = what.split(".");
			return definitions[shape]?.properties?.[field] !== undefined;
		};
		for (const { messages, fields, errors, ...entry } of history) {
			const renamed = Object.entries(entry.renamed).flat();
			const named = [...entry.methods, ...messages, ...fields, ...errors, ...renamed];
			expect([entry.version, named.filter((what) => !isThere(what))]).toEqual([entry.version, []]);
		}
		expect(undocumented.filter((what) => !isThere(what))).toEqual([]);
	});
});

describe("a further dialect", () => {
	const entry: ProtocolDescription = {
		...kimiWire,
		name: "other",
		title: "Other",
		introduction: "",
		closing: "",
		protocol: {
			methods: {
				"session/create": {
					params: v.object({ model: v.optional(v.string(), "m"), tags: v.record(v.string(), v.string()) }),
					result: v.object({ session_id: v.string() }),
				},
				initialized: { params: v.unknown(), result: null, actsOn: "notifications" },
			},
			events: { run_started: v.object({ n: v.number() }) },
			requests: {
				"tool/execute": { payload: v.object({ name: v.string() }), result: v.object({ content: v.string() }) },
			},
		},
		carry: {
			event: (type, payload): { method: JsonSchema; params: JsonSchema } => ({
				method: { const: "session/event" },
				params: {
					type: "object",
					properties: { session_id: { type: "string" }, event: typedMessage("")(type, payload).params },
					required: ["session_id", "event"],
				},
			}),
			request: (type, payload) => ({ method: { const: type }, params: payload ?? {} }),
		},
		rules: { ...envelopeRules, isId: (value) => typeof value === "string" || typeof value === "number" },
		values: {},
		sinceOf: null,
		texts: {
			...Object.fromEntries(errorCodes(kimiWire).map((code) => [String(code), "Wrong."])),
			"session/create": "Makes a session.",
			"SessionCreateParams.model": "Its model.",
			"SessionCreateParams.tags": "Its tags.",
			"SessionCreateResult.session_id": "Its id.",
			initialized: "Says so.",
			run_started: "A run starts.",
			"RunStarted.n": "A number.",
			"tool/execute": "Runs a tool.",
			"ToolExecute.name": "The tool.",
			"ToolExecuteResult.content": "What came of it.",
		},
	};

	it("needs one more entry and nothing else", () => {
		const fitsClient = fitting(entry, "ClientLine");
		const fitsServer = fitting(entry, "ServerLine");
		const created = { jsonrpc: "2.0", id: 7, method: "session/create", params: { tags: { a: "b" } } };
		expect(fitsClient(created)).toBe(true);
		expect(fitsClient({ ...created, params: { tags: { a: 1 } } })).toBe(false);
		expect(fitsClient({ jsonrpc: "2.0", method: "initialized" })).toBe(true);
		const params = { session_id: "s", event: { type: "run_started", payload: { n: 1 } } };
		expect(fitsServer({ jsonrpc: "2.0", method: "session/event", params })).toBe(true);
		expect(fitsServer({ jsonrpc: "2.0", method: "session/event", params: params.event })).toBe(false);
		expect(fitsServer({ jsonrpc: "2.0", id: "1", method: "tool/execute", params: { name: "t" } })).toBe(true);
		const text = toMarkdown(entry);
		expect(text).toContain("### `session/create`");
		expect(text).toContain('| `model` | string | `"m"` | Its model. |');
		expect(text).toContain("| `tags` | object of string by name | required | Its tags. |");
	});
});

describe("the lines of the transcripts", () => {
	it.each([
		["kimi", kimiWire],
		["legacy", legacy],
	] as const)("of %s that clients send in good order fit its schema", (folder, description) => {
		const fits = fitting(description, "ClientLine");
		const plain = readTranscripts().filter(
			({ name }) => name.startsWith(`${folder}/appro`) && !/malformed|lenient|envelope|wrong/.test(name),
		);
		const sent = plain
			.flatMap(({ conversations }) => conversations.flat())
			.flatMap((move) => (move.kind === "send" ? [move.bytes] : []));
		expect(sent.length).toBeGreaterThan(3);
		for (const text of sent) expect([text, fits(JSON.parse(text))]).toEqual([text, true]);
	});
});

function serverValues({ values }: ProtocolDescription) {
	return Object.fromEntries(Object.entries(values).map(([name, { schema }]) => [name, schema]));
}
