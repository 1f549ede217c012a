// The vocabulary of the Agent Client Protocol for the fuzz campaign: its methods with params good and bad, ids of every kind, and
// traffic of real clients. The ids of sessions are filled in when a line is sent.
import fc from "fast-check";
import { hostedPlace } from "../../support/sessions/hosted-server.ts";
import { anyValue, bent, choose, largeSize, sometimes, texts, type Vocabulary } from "../frame/hostile-lines.ts";
import { methods as knownMethods } from "./fuzz-oracle.ts";

/** Stands for the directory where sessions work. */
const cwdMark = "<cwd>";

const methods = choose(
	...knownMethods,
	...[
		"session/archive",
		"session/Prompt",
		"session/new ",
		"session/",
		"/",
		"prompt",
		"cancel",
		"",
		"_custom",
		"$/progress",
	],
	...["__proto__", "constructor", "toString", "\u2028", "\ud800", "é".repeat(300), "fs/read_text_file"],
);

const oddIds = choose(
	...["9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "0", "-1"],
	...["9223372036854775808", "123456789012345678901234567890", "1.5", "1.0", "1e3", "-0"],
	...["null", "true", "false", "[]", "{}", '[1,{"id":2}]', '{"id":3}'],
	...['""', '"1"', '"\\u2028"', '"\u2028\u2029"', '"\\ud800"', '"\\"id\\":5"', '"é👩‍💻"', `"${"x".repeat(2000)}"`],
);

const count = fc.nat({ max: 1_000_000 });
const ids = fc.oneof(
	{ weight: 3, arbitrary: count.map(String) },
	{ weight: 3, arbitrary: count.map((number) => `"s${number}"`) },
	{ weight: 3, arbitrary: count.map((number) => String(2n ** 62n + BigInt(number))) },
	{ weight: 2, arbitrary: oddIds },
);

const sessionMark = /<session (\d+)>/g;

/** Fills in the marks of sessions, the latest first, and of the directory; a mark stays where no session is known. */
export function complete(line: Buffer, known: readonly string[], cwd: string): Buffer {
	const text = line.toString("latin1");
	if (!text.includes("<")) return line;
	const filled = text
		.replaceAll(cwdMark, cwd)
		.replace(sessionMark, (mark, number: string) => known[Number(number) % Math.max(1, known.length)] ?? mark);
	return Buffer.from(filled, "latin1");
}

const sessionId = fc.oneof(
	{ weight: 14, arbitrary: fc.nat({ max: 7 }).map((number) => `<session ${number}>`) },
	{
		weight: 2,
		arbitrary: choose("01936f8a-7b2c-7000-8000-000000000001", "../../etc/passwd", "..", "", "zz", "\u0000", "a/b"),
	},
	{ weight: 1, arbitrary: anyValue(1) },
);

const cwd = choose<unknown>(
	...[cwdMark, cwdMark, cwdMark, cwdMark, cwdMark, hostedPlace.workDir, "/nowhere/at/all", "relative", "", null],
);
const variables = choose<unknown>([], [{ name: "A", value: "b" }], { A: "b" }, [{ name: 1 }], null);
const server = bent({
	name: choose("files", "", "a b", "__proto__"),
	command: choose("/nonexistent/server", "", "relative"),
	args: choose<unknown>([], ["-x"], null, [1]),
	env: variables,
	type: sometimes(30, choose<unknown>("http", "sse", "stdio", "acp", 5)),
	url: sometimes(30, choose<unknown>("http://127.0.0.1:1/mcp", "not a url", "file:///etc/passwd", "")),
	headers: sometimes(30, variables),
});
const workspace = {
	cwd,
	mcpServers: fc.oneof(
		{ weight: 9, arbitrary: fc.constant<unknown>([]) },
		{ weight: 1, arbitrary: fc.array(server, { maxLength: 2 }) },
	),
	additionalDirectories: sometimes(10, choose<unknown>([], ["/nowhere"], ["relative"], null, "x")),
};

const base64 = choose("", "aGk=", "not base64!", "é");
const block = fc.oneof(
	{ weight: 6, arbitrary: bent({ type: choose("text"), text: texts }) },
	bent({ type: choose("image"), data: base64, mimeType: choose("image/png", "", "text/html") }),
	bent({ type: choose("audio"), data: base64, mimeType: choose("audio/wav", "") }),
	bent({ type: choose("resource_link"), uri: choose("file:///x", "", "a b"), name: texts, size: sometimes(20, count) }),
	bent({ type: choose("resource"), resource: bent({ uri: texts, text: texts, blob: sometimes(30, base64) }) }),
	bent({ type: choose("video", "", "__proto__"), text: texts }),
);
const prompt = bent({ sessionId, prompt: fc.array(block, { maxLength: 3 }) });
const slashes = choose("/help", "/compact", "/clear", "/nothing", "/btw why", "/yolo", "/plan", "/init", "/");
const command = bent({ sessionId, prompt: slashes.map((text) => [{ type: "text", text }]) });

const capabilities = bent({
	fs: choose<unknown>({ readTextFile: true, writeTextFile: true }, {}, null, 5),
	terminal: choose<unknown>(true, false, "yes"),
	session: choose<unknown>({ notices: {}, compaction: {}, configOptions: { boolean: {} } }, { notices: true }, null),
	elicitation: choose<unknown>({ form: {}, url: {} }, {}, [], null),
});
const handshake = bent({
	protocolVersion: choose<unknown>(1, 1, 1, 0, 2, 65_535, 65_536, -1, 1.5, "1"),
	clientCapabilities: sometimes(60, capabilities),
	clientInfo: sometimes(60, choose<unknown>({ name: "zed", version: "1" }, { name: 5 }, "zed", null)),
});

const call = (weight: number, method: string, params: fc.Arbitrary<unknown>) => ({
	weight,
	arbitrary: fc
		.oneof({ weight: 92, arbitrary: params }, { weight: 5, arbitrary: anyValue(1) }, { weight: 3, arbitrary: absent })
		.map((given) => ({ method, params: given })),
});
const absent = fc.constant<unknown>(undefined);
const onSession = bent({ sessionId });

const calls = fc.oneof(
	call(4, "initialize", handshake),
	call(1, "authenticate", bent({ methodId: choose<unknown>("login", "login-terminal", "", 5) })),
	call(1, "logout", choose<unknown>({}, [], 1)),
	call(8, "session/new", bent(workspace)),
	call(4, "session/load", bent({ sessionId, ...workspace })),
	call(4, "session/resume", bent({ sessionId, ...workspace })),
	call(2, "session/fork", bent({ sessionId, ...workspace })),
	call(3, "session/list", bent({ cwd: sometimes(50, cwd), cursor: sometimes(20, choose<unknown>("", "x", null, 5)) })),
	call(2, "session/delete", onSession),
	call(2, "session/close", onSession),
	call(12, "session/prompt", prompt),
	call(3, "session/prompt", command),
	call(3, "session/cancel", onSession),
	call(3, "session/set_mode", bent({ sessionId, modeId: choose<unknown>("plan", "yolo", "default", "auto", "", 1) })),
	call(
		3,
		"session/set_config_option",
		bent({
			sessionId,
			configId: choose("mode", "model", "thinking", "", "__proto__"),
			value: choose<unknown>("plan", "default", "m", "on", true, false, "", 5),
		}),
	),
	call(2, "_session/steering", prompt),
	call(
		2,
		"_session/rewind",
		bent({ sessionId, messageId: choose<unknown>("none", "x-1", "", 5), dryRun: choose(true, false) }),
	),
	call(3, "$/cancel_request", bent({ requestId: choose<unknown>("c", 1, 5, null, "probe-1", 1.5, {}) })),
	{ weight: 6, arbitrary: fc.tuple(methods, anyValue(1)).map(([method, params]) => ({ method, params })) },
);

const asking = '{"jsonrpc":"2.0","id":"c","method":"session/prompt","params":{"sessionId":"<session 0>","prompt":';
const opening = '{"jsonrpc":"2.0","id":"n","method":"session/new","params":';

export const acpVocabulary: Vocabulary = {
	methods,
	calls,
	ids,
	oddIds,
	strayAnswers: [
		'"result":{"outcome":{"outcome":"selected","optionId":"approve"}}',
		'"result":null',
		'"error":{"code":-32800,"message":"m"}',
	],
	traffic: [
		'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"_meta":{"terminal_output":true,"terminal-auth":true}}}}',
		`${opening}{"cwd":"${cwdMark}","mcpServers":[]}}`,
		`${asking}[{"type":"text","text":"Look at this: é ü 漢字 👩‍💻"}]}}`,
		'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"<session 0>"}}',
		'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"c"}}',
	],
	frames: [
		[opening, "}"],
		[asking, "}}"],
		[`${asking}[{"type":"text","text":`, "}]}}"],
		['{"jsonrpc":"2.0","id":', ',"method":"session/list"}'],
		['{"jsonrpc":"2.0","id":"a","method":', "}"],
	],
	deepFrames: [
		[`${asking}[{"type":"text","text":"x","_meta":{"a":`, "}}]}}"],
		[`${opening}{"cwd":"${cwdMark}","mcpServers":[],"_meta":{"a":`, "}}}"],
		['{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":', "}}"],
	],
};

/** Three million bytes that are taken. */
export const acpLargeLines: readonly (() => Buffer)[] = [
	() => {
		const params = { protocolVersion: 1, clientInfo: { name: "é\u2028".repeat(largeSize / 5), version: "1" } };
		return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "large", method: "initialize", params }));
	},
];
