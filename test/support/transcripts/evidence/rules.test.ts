// The gate over the golden transcripts can fail: marks without their lines are false, whatever their kind.
import { describe, expect, it } from "vitest";
import { parseTranscript, type Transcript } from "../../../../src/testing/transcripts/format.ts";
import { requiredCells } from "../transcript-cells.ts";
import { readTranscripts } from "../transcript-files.ts";
import { methodNames } from "../transcript-methods.ts";
import { parseProof, type Step } from "./language.ts";
import { type CoverKind, coverKinds, isTrue, proofs } from "./rules.ts";
import { isHeld, linesOf } from "./search.ts";

/** A cell of a kind, lines that show it, and lines that come near without showing it. */
interface Pair {
	readonly cell: string;
	readonly shows: string;
	readonly lacks: string;
}

const event = (type: string, payload = "{}") =>
	`← {"jsonrpc":"2.0","method":"event","params":{"type":"${type}","payload":${payload}}}`;
const prompt = '→ {"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"go"}}';
const finished = '← {"jsonrpc":"2.0","id":"p","result":{"status":"finished"}}';
const cancel = (id: string) => `→ {"jsonrpc":"2.0","id":"${id}","method":"cancel"}`;
const noTurn = (id: string) =>
	`← {"jsonrpc":"2.0","id":"${id}","error":{"code":-32000,"message":"No agent turn is in progress","data":null}}`;
const busy = (id: string) =>
	`← {"jsonrpc":"2.0","id":"${id}","error":{"code":-32000,"message":"An agent turn is already in progress","data":null}}`;
const question =
	'← {"jsonrpc":"2.0","method":"request","id":"q","params":{"type":"QuestionRequest","payload":{"id":"q"}}}';
const run = '→ {"jsonrpc":"2.0","id":"r","method":"run","params":{"input":"go"}}';
const interrupt = '→ {"jsonrpc":"2.0","id":"proof","method":"interrupt","params":{}}';
const interrupted = '← {"jsonrpc":"2.0","id":"proof","result":{"status":"idle"}}';
const ran = (output: string) =>
	event("tool_result", `{"tool_call_id":"c","ok":false,"result":{"output":"","message":"","brief":"${output}"}}`);
const approval = '← {"jsonrpc":"2.0","method":"request","id":"u","params":{"type":"approval","payload":{"id":"u"}}}';
const capabilities = `→ {"jsonrpc":"2.0","id":1,"method":"capabilities/get"}
← {"jsonrpc":"2.0","id":1,"result":{"contract_version":"1","capabilities":[]}}`;
const list = `→ {"jsonrpc":"2.0","id":2,"method":"session/list"}
← {"jsonrpc":"2.0","id":2,"result":{"sessions":[]}}`;
const notFound = (number: number) =>
	`← {"jsonrpc":"2.0","id":3,"error":{"code":${number},"message":"","data":{"code":"SESSION_NOT_FOUND"}}}`;
const execute = '← {"jsonrpc":"2.0","method":"tool/execute","id":"x","params":{"session_id":"A"}}';
const refusal = `→ {"jsonrpc":"2.0","id":"u","result":{"response":"reject"}}
${ran("Rejected by user")}
← {"jsonrpc":"2.0","id":"r","result":{"status":"finished"}}`;

const opened = `→ {"jsonrpc":"2.0","id":1,"method":"session/new"}
← {"jsonrpc":"2.0","id":1,"result":{"sessionId":"A"}}`;
const update = (name: string, members: string) =>
	`← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"A","update":{"sessionUpdate":"${name}",${members}}}}`;
const updated = update("plan", '"entries":[]');
const load = '→ {"jsonrpc":"2.0","id":3,"method":"session/load"}';
const loaded = '← {"jsonrpc":"2.0","id":3,"result":{}}';
const permission = '← {"jsonrpc":"2.0","method":"session/request_permission","id":"x","params":{"sessionId":"A"}}';
const withdrawn = (status: string) => `${permission}
→ {"jsonrpc":"2.0","method":"session/cancel"}
← {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}
${update("tool_call_update", `"toolCallId":"c","status":"${status}"`)}
← {"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}
→ {"jsonrpc":"2.0","id":"x","result":{"outcome":{"outcome":"selected","optionId":"approve"}}}
← {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`;

const asked = '→ {"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}';
const controlled = (subtype: string) =>
	`← {"type":"control_response","response":{"subtype":"${subtype}","request_id":"1",…}}`;
const started = '→ {"id":1,"method":"thread/start","params":{}}';

const pairs: { readonly [K in CoverKind]: Pair } = {
	"claude-control": {
		cell: "interrupt",
		shows: `${asked}\n${controlled("success")}`,
		lacks: `${controlled("error")}\n${asked}`,
	},
	"codex-method": {
		cell: "thread/start",
		shows: `${started}\n← {"id":1,"result":{}}`,
		lacks: `${started}\n← {"id":2,"error":{}}`,
	},
	"codex-exec-event": {
		cell: "item.completed",
		shows: '← {"type":"item.completed","item":{"type":"error"}}',
		lacks: '← {"type":"item.started","item":{"type":"item.completed"}}',
	},
	"gateway-method": {
		cell: "server.info",
		shows: '→ {"jsonrpc":"2.0","id":1,"method":"server.info"}\n← {"jsonrpc":"2.0","id":1,"result":{}}',
		lacks: '→ {"jsonrpc":"2.0","id":1,"method":"server.info"}\n← {"jsonrpc":"2.0","id":2,"result":{}}',
	},
	edge: {
		cell: "not-json",
		shows:
			'→ {not-json}\n← {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Invalid JSON format","data":null}}',
		lacks: `→ {not-json}\n${cancel("k")}\n${noTurn("k")}`,
	},
	outcome: {
		cell: "question/end-of-input",
		shows: `${question}\nclose stdin\n${event("TurnEnd")}\n← {"jsonrpc":"2.0","id":"p","result":{"status":"cancelled"}}\nexit 0`,
		lacks: `${question}\nclose stdin\n${event("TurnEnd")}\n${finished}\nexit 0`,
	},
	scenario: {
		cell: "retries-exhausted",
		shows: [
			event("StepRetry", '{"next_attempt":2}'),
			event("StepRetry", '{"next_attempt":3}'),
			event("StepInterrupted"),
			event("TurnEnd"),
			'← {"jsonrpc":"2.0","id":"p","error":{"code":-32003,"message":"busy","data":null}}',
		].join("\n"),
		lacks: [
			event("StepRetry", '{"next_attempt":2}'),
			event("StepInterrupted"),
			event("TurnEnd"),
			'← {"jsonrpc":"2.0","id":"p","error":{"code":-32003,"message":"busy","data":null}}',
		].join("\n"),
	},
	choice: {
		cell: "run",
		shows: `${run}\n${event("step_begin")}\n← {"jsonrpc":"2.0","id":"r","result":{}}\n${prompt}\n← {"jsonrpc":"2.0","id":"p","error":{"code":-32601,"message":"Unknown method: prompt"}}`,
		lacks: `${run}\n${event("step_begin")}\n← {"jsonrpc":"2.0","id":"r","result":{}}`,
	},
	older: {
		cell: "undeclared",
		shows: `${prompt}\n${event("SubagentEvent", '{"parent_tool_call_id":"P","task_tool_call_id":"P"}')}\n${finished}`,
		lacks: `${prompt}\n${event("SubagentEvent", '{"parent_tool_call_id":"P"}')}\n${finished}`,
	},
	"legacy-scenario": {
		cell: "cancelled",
		shows: `${run}\n${approval}\n${interrupt}\n← {"jsonrpc":"2.0","id":"proof","result":{"status":"ok"}}\n${event("step_interrupted")}\n← {"jsonrpc":"2.0","id":"r","result":{"status":"cancelled"}}`,
		lacks: `${run}\n${approval}\n${interrupt}\n← {"jsonrpc":"2.0","id":"proof","result":{"status":"ok"}}\n← {"jsonrpc":"2.0","id":"r","result":{"status":"cancelled"}}`,
	},
	"legacy-outcome": {
		cell: "reject",
		shows: `${run}\n${approval}\n${refusal}`,
		lacks: `${run}\n${approval}\n${refusal.replace('"reject"', '"approve"')}`,
	},
	"legacy-silence": {
		cell: "empty-object",
		shows: `→ {}\n← nothing\n${interrupt}\n${interrupted}`,
		lacks: `→ {"jsonrpc":"2.0"}\n← nothing\n${interrupt}\n${interrupted}`,
	},
	"meerkat-scenario": {
		cell: "no-model",
		shows: `→ {"jsonrpc":"2.0","id":1,"method":"session/create"}\n← {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"data":{"code":"PROVIDER_ERROR"}}}\n${list}`,
		lacks: `→ {"jsonrpc":"2.0","id":1,"method":"session/create"}\n← {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"data":{"code":"PROVIDER_ERROR"}}}`,
	},
	state: {
		cell: "prompt/turn",
		shows: `${prompt}\n${event("TurnBegin")}\n→ {"jsonrpc":"2.0","id":"q","method":"prompt"}\n${busy("q")}\n${finished}`,
		lacks: `${prompt}\n${event("TurnBegin")}\n${finished}\n→ {"jsonrpc":"2.0","id":"q","method":"prompt"}\n${busy("q")}`,
	},
	"legacy-state": {
		cell: "interrupt/running",
		shows: `${run}\n${event("step_begin")}\n${interrupt}\n${interrupted}`,
		lacks: `${interrupt}\n${interrupted}`,
	},
	event: {
		cell: "SteerInput",
		shows: event("SteerInput"),
		lacks: event("SubagentEvent", '{"event":{"type":"SteerInput","payload":{}}}'),
	},
	replayed: {
		cell: "TurnBegin",
		shows: `→ {"jsonrpc":"2.0","id":"r","method":"replay"}\n${event("TurnBegin")}\n← {"jsonrpc":"2.0","id":"r","result":{}}`,
		lacks: `→ {"jsonrpc":"2.0","id":"r","method":"replay"}\n← {"jsonrpc":"2.0","id":"r","result":{}}\n${prompt}\n${event("TurnBegin")}`,
	},
	error: { cell: "-32000/busy", shows: busy("q"), lacks: noTurn("q") },
	"legacy-event": {
		cell: "step_begin",
		shows: event("step_begin"),
		lacks: event("subagent_event", '{"event":{"type":"step_begin","payload":{}}}'),
	},
	"legacy-error": { cell: "-32601", shows: noTurn("q").replace("-32000", "-32601"), lacks: noTurn("q") },
	"meerkat-event": {
		cell: "run_failed",
		shows: '← {"jsonrpc":"2.0","method":"session/event","params":{"session_id":"A","event":{"type":"run_failed"}}}',
		lacks: '← {"jsonrpc":"2.0","id":1,"result":{"type":"run_failed"}}',
	},
	"meerkat-error": {
		cell: "SESSION_NOT_FOUND/contract",
		shows: `${capabilities}\n${notFound(-32001)}`,
		lacks: `${capabilities}\n${notFound(-32000)}`,
	},
	"meerkat-method": {
		cell: "session/list/contract",
		shows: `${capabilities}\n${list}`,
		lacks: `${list}\n${capabilities}`,
	},
	"meerkat-request": {
		cell: "tool/execute",
		shows: `${execute}\n→ {"jsonrpc":"2.0","id":"x","result":{"content":""}}`,
		lacks: execute,
	},
	"acp-state": {
		cell: "session/list/idle",
		shows: `${opened}\n${list}`,
		lacks: `${list}\n${opened}`,
	},
	"acp-update": { cell: "plan", shows: updated, lacks: `${load}\n${updated}\n${loaded}` },
	"acp-replayed": { cell: "plan", shows: `${load}\n${updated}\n${loaded}`, lacks: `${load}\n${loaded}\n${updated}` },
	"acp-notification": {
		cell: "$/cancel_request",
		shows: '← {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}',
		lacks: '→ {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}',
	},
	"acp-request": {
		cell: "session/request_permission",
		shows: `${permission}\n→ {"jsonrpc":"2.0","id":"x","result":{}}`,
		lacks: permission,
	},
	"acp-v2-method": { cell: "session/list", shows: list, lacks: list.split("\n")[0] ?? "" },
	"acp-v2-update": { cell: "plan", shows: updated, lacks: updated.replaceAll("plan", "other") },
	"acp-v2-request": {
		cell: "session/request_permission",
		shows: `${permission}\n→ {"jsonrpc":"2.0","id":"x","result":{}}`,
		lacks: permission,
	},
	"acp-error": {
		cell: "-32002",
		shows: '← {"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"no"}}',
		lacks: '← {"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no"}}',
	},
	"acp-outcome": {
		cell: "permission/withdrawn",
		shows: withdrawn("failed"),
		lacks: withdrawn("in_progress"),
	},
	"acp-scenario": {
		cell: "max-steps",
		shows: '← {"jsonrpc":"2.0","id":1,"result":{"stopReason":"max_turn_requests"}}',
		lacks: '← {"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}',
	},
};

/** What precedes the conversation of a pair, for those that want it. */
const setups: Readonly<Record<string, string>> = {
	"meerkat-scenario": "with: no model\n",
	"acp-scenario": "with: max steps 1\n",
};

const transcripts = readTranscripts();
const withLines = (kind: string, text: string) =>
	parseTranscript("kimi/made-up", `${setups[kind] ?? ""}--- conversation\n${text}`);

describe("a mark of a transcript", () => {
	it.each(Object.entries(pairs))("is true of kind %s only when the lines are there", (kind, { cell, shows, lacks }) => {
		expect(isTrue(withLines(kind, shows), { kind, cell })).toBe(true);
		expect(isTrue(withLines(kind, lacks), { kind, cell })).toBe(false);
	});

	it("has a pair for every kind", () => {
		expect(Object.keys(pairs).sort()).toEqual([...coverKinds].sort());
	});

	it("is false when its kind or its cell is unknown", () => {
		const [transcript] = transcripts;
		if (transcript === undefined) throw new Error("there is no transcript");
		expect(isTrue(transcript, { kind: "scenery", cell: "plain" })).toBe(false);
		expect(coverKinds.filter((kind) => isTrue(transcript, { kind, cell: "no-such-cell" }))).toEqual([]);
	});

	it("is false of a conversation in which nothing is said, and of one of which the server's lines are gone", async () => {
		const empty = withLines("", "close stdin\nexit 0");
		const cells = [...requiredCells(await methodNames())].map((text) => {
			const [kind = "", ...cell] = text.split(" ");
			return { kind, cell: cell.join(" ") };
		});
		expect(cells.filter((cover) => isTrue(empty, cover))).toEqual([]);
		const retained = transcripts.flatMap((transcript) => {
			const silent = withoutAnswers(transcript);
			return transcript.covers.filter((cover) => isTrue(silent, cover)).map(({ cell }) => [transcript.name, cell]);
		});
		expect(retained).toEqual([]);
	});
});

describe("a proof", () => {
	const steps = Object.entries(proofs).flatMap(([kind, cells]) =>
		Object.entries(cells).flatMap(([cell, proof]) =>
			parseProof(proof).map((step) => ({ mark: `${kind} ${cell}`, step })),
		),
	);

	it("forbids no line that appears in no transcript", () => {
		const lines = transcripts.flatMap(linesOf);
		const idle = steps.filter(({ step }) => isProhibition(step) && !lines.some((line) => isHeld(line, step)));
		expect(idle).toEqual([]);
	});

	it("is refused when it requires no line, or has a step that does not exist", () => {
		expect(() => parseProof("no ← any")).toThrow("a proof that wants no line");
		expect(() => parseProof("← any\nperhaps")).toThrow("not a step of a proof: perhaps");
	});
});

function isProhibition({ kind }: Step): boolean {
	return kind === "never-sent" || kind === "never-received";
}

function withoutAnswers(transcript: Transcript): Transcript {
	const isRetained = ({ kind }: { readonly kind: string }) => kind !== "receive" && kind !== "unordered";
	return { ...transcript, conversations: transcript.conversations.map((moves) => moves.filter(isRetained)) };
}
