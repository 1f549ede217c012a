// The fuzz campaign of the dialects of SDKs: requests that nearly fit, with ids that are repeated and params of every kind. Each is
// answered once, never with an error of ours, and the connection ends when its input does.
import fc from "fast-check";
import { systemClock } from "../../../src/base/clock.ts";
import { isRecord } from "../../../src/base/json.ts";
import { parseClaudeFlags } from "../../../src/cli/arguments/sdk/claude-options.ts";
import { readClaudeOptions } from "../../../src/cli/claude/claude-settings.ts";
import { claudeProtocol, refusedRequests } from "../../../src/frontends/claude/protocol.ts";
import { serveClaude } from "../../../src/frontends/claude/serve.ts";
import { createCodexDialect } from "../../../src/frontends/codex/dialect.ts";
import { codexProtocol } from "../../../src/frontends/codex/protocol.ts";
import { createDiskFiles } from "../../../src/ports/files/disk-files.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import { createGatedProvider } from "../../support/models/gated-provider.ts";
import { createHostedServer, type HostedServer, hostedPlace } from "../../support/sessions/hosted-server.ts";
import { createMemoryFiles } from "../../support/store/memory-files.ts";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { anyValue } from "../frame/hostile-lines.ts";
import { withPatience } from "../frame/patience.ts";
import { createRandom, type Random } from "../random.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What of a line comes back: the name of its answer, of which there must be as many as lines ask for. */
interface Line {
	readonly message: Fields;
	readonly answer: string;
}

interface SdkDialect {
	open(): Promise<HostedServer>;
	/** The lines that begin each connection. */
	readonly opening: readonly Line[];
	/** A line; `seen` are ids that the server has sent. */
	line(random: Random, number: number, seen: readonly string[]): Line;
	/** The name of the answer; null for another message. A fault is an error that no line explains. */
	read(message: Fields): {
		readonly answer: string | null;
		readonly fault: string | null;
		readonly seen: string | null;
	};
}

const linesPerConnection = 60;
/** Milliseconds in which a connection whose input has ended must end too. */
const patience = 20_000;

/** Texts of exceptions, which are bugs. */
const bug = /TypeError|RangeError|is not a function|Cannot read/;

const runFuzz =
	(dialect: SdkDialect) =>
	(options: CampaignOptions): Promise<CampaignReport> =>
		reportOn("fuzz", options.seed, async () => {
			const tally = new Tally();
			const findings: string[] = [];
			const first = options.path === undefined ? 0 : Number(options.path);
			const connections = options.path === undefined ? Math.ceil(options.rounds / linesPerConnection) : 1;
			for (let number = first; number < first + connections; number += 1) {
				const faults = await playConnection(dialect, createRandom(options.seed * 1_000_003 + number), tally);
				findings.push(...faults.map((fault) => `--seed ${options.seed} --path ${number}: ${fault}`));
				if (number % 50 === 49) options.log(`${number + 1} connections, ${findings.length} findings`);
			}
			return { rounds: options.rounds, findings, figures: tally.figures() };
		});

async function playConnection(dialect: SdkDialect, random: Random, tally: Tally): Promise<readonly string[]> {
	const server = await dialect.open();
	const faults: string[] = [];
	const seen: string[] = [];
	/** By the name of an answer: how many lines ask for it, less those that came. */
	const owed = new Map<string, Line[]>();
	const reading = (async () => {
		for (let text = await server.client.read(); text !== null; text = await server.client.read()) {
			const message: unknown = JSON.parse(text);
			const found = isRecord(message) ? dialect.read(message) : { answer: null, fault: "no object", seen: null };
			if (found.seen !== null) seen.push(found.seen);
			if (found.fault !== null) faults.push(`${found.fault}: ${text.slice(0, 500)}`);
			if (found.answer === null) continue;
			const line = owed.get(found.answer)?.shift();
			if (line === undefined) faults.push(`nobody asked for ${text.slice(0, 500)}`);
			else if (found.fault !== null) faults.push(`it answers ${JSON.stringify(line.message).slice(0, 500)}`);
		}
	})();
	const send = (line: Line) => {
		owed.set(line.answer, [...(owed.get(line.answer) ?? []), line]);
		server.client.write(`${JSON.stringify(line.message)}\n`);
		tally.add("lines");
	};
	dialect.opening.forEach(send);
	for (let number = 0; number < linesPerConnection; number += 1) {
		send(dialect.line(random, number, seen));
		if (random.chance(40)) await new Promise((resolve) => setImmediate(resolve));
	}
	// What was asked for is answered before the end.
	server.client.end();
	const end = async () => {
		await server.serving.ended;
		await server.serving.finish();
		await server.close();
		await reading;
		return true;
	};
	if ((await withPatience(end(), patience)) === undefined) faults.push("the connection does not end");
	for (const [answer, lines] of owed) {
		faults.push(...lines.map(({ message }) => `${answer} does not come for ${JSON.stringify(message).slice(0, 500)}`));
	}
	return faults;
}

function anything(random: Random): unknown {
	return fc.sample(anyValue(2), { seed: random.below(2 ** 30), numRuns: 1 })[0];
}

/** Plausible members with some that are missing or anything. */
function bend(random: Random, members: Fields): Fields {
	return Object.fromEntries(
		Object.entries(members)
			.filter(() => random.chance(92))
			.map(([key, value]) => [key, random.chance(85) ? value : anything(random)]),
	);
}

const open = async (more: Pick<Parameters<typeof createHostedServer>[0], "front" | "dialect">) =>
	await createHostedServer({
		...more,
		files: createMemoryFiles(),
		store: createMemoryStore(),
		clock: systemClock,
		fetch: createGatedProvider(true).fetch,
		agentwire: { limits: { loaded_sessions: 101, running_turns: 1000, requests_in_flight: 1000 } },
	});

const formats = ["--input-format", "stream-json", "--output-format", "stream-json"];
const controls: readonly Fields[] = [
	{ subtype: "initialize", hooks: { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["h"] }] } },
	{ subtype: "interrupt" },
	{ subtype: "set_permission_mode", mode: "acceptEdits" },
	{ subtype: "set_model", model: "m" },
	{ subtype: "set_max_thinking_tokens", max_thinking_tokens: 1000 },
	{ subtype: "mcp_status" },
	{ subtype: "mcp_reconnect", serverName: "s" },
	{ subtype: "mcp_message", server_name: "s", message: { jsonrpc: "2.0", method: "x" } },
	{ subtype: "rewind_files", user_message_id: "u", dry_run: true },
	{ subtype: "rename_session", title: "t" },
	{ subtype: "stop_task", task_id: "t" },
	{ subtype: "get_binary_version" },
];
const controlNames = [...Object.keys(claudeProtocol.methods), ...refusedRequests, "nothing", "constructor", ""];

export const fuzzClaude = runFuzz({
	open: async () => {
		const place = { currentDir: hostedPlace.workDir, home: "/home/me" };
		const options = await readClaudeOptions(parseClaudeFlags(formats), place, createDiskFiles());
		return await open({
			front(transport, host, signal) {
				const { ended, finish } = serveClaude(transport, host, options, signal);
				return { ended: ended.then(() => "input-ended" as const), finish };
			},
		});
	},
	opening: [],
	line(random, number) {
		if (random.chance(15)) {
			const content = random.chance(50) ? `go ${number}` : [bend(random, { type: "text", text: "go" })];
			const message = random.chance(80) ? { role: "user", content } : anything(random);
			return {
				message: { ...bend(random, { uuid: `u${number}`, session_id: "" }), type: "user", message },
				answer: "result",
			};
		}
		const known = controls[random.below(controls.length)] ?? {};
		const subtype = controlNames[random.below(controlNames.length)];
		const request = random.chance(70)
			? bend(random, known)
			: random.chance(80)
				? { ...known, subtype }
				: anything(random);
		const id = random.chance(95) ? `r${number}` : "again";
		return { message: { type: "control_request", request_id: id, request }, answer: id };
	},
	read(message) {
		if (message["type"] === "result") return { answer: "result", fault: null, seen: null };
		const { response } = message;
		if (message["type"] !== "control_response" || !isRecord(response)) return { answer: null, fault: null, seen: null };
		const isKnown = response["subtype"] === "success" || response["subtype"] === "error";
		const isBug = bug.test(String(response["error"] ?? ""));
		return {
			answer: String(response["request_id"]),
			fault: isKnown && !isBug ? null : "an error of ours",
			seen: null,
		};
	},
});

const calls: readonly (readonly [method: string, params: (threadId: string) => Fields])[] = [
	["initialize", () => ({ clientInfo: { name: "c", version: "1" } })],
	["model/list", () => ({})],
	["account/read", () => ({})],
	["thread/start", () => ({ model: "m", cwd: hostedPlace.workDir, dynamicTools: [], approvalPolicy: "on-request" })],
	["thread/resume", (threadId) => ({ threadId, excludeTurns: true })],
	["thread/fork", (threadId) => ({ threadId })],
	["thread/revert", (threadId) => ({ threadId, beforeTurnId: "t" })],
	["thread/list", () => ({ limit: 5, archived: false })],
	["thread/read", (threadId) => ({ threadId, includeTurns: true })],
	["thread/archive", (threadId) => ({ threadId })],
	["thread/name/set", (threadId) => ({ threadId, name: "n" })],
	["thread/compact/start", (threadId) => ({ threadId })],
	["turn/start", (threadId) => ({ threadId, input: [{ type: "text", text: "go" }] })],
	["turn/steer", (threadId) => ({ threadId, expectedTurnId: "t", input: [{ type: "text", text: "go" }] })],
	["turn/interrupt", (threadId) => ({ threadId, turnId: "t" })],
];
const methodNames = [...Object.keys(codexProtocol.methods), "review/start", "nothing", "constructor", ""].filter(
	(name) => name !== "initialized",
);

export const fuzzCodex = runFuzz({
	open: () =>
		open({
			dialect: createCodexDialect({
				home: hostedPlace.shareDir,
				sandbox: "danger-full-access",
				hasNetwork: true,
				directoryOf: () => null,
			}),
		}),
	opening: [
		{ message: { id: "o", method: "initialize", params: { clientInfo: { name: "c", version: "1" } } }, answer: '"o"' },
		{ message: { id: "p", method: "thread/start", params: {} }, answer: '"p"' },
	],
	line(random, number, seen) {
		const [name, params] = calls[random.below(calls.length)] ?? ["", () => ({})];
		const threadId = seen[random.below(seen.length)] ?? "none";
		const method = random.chance(90) ? name : (methodNames[random.below(methodNames.length)] ?? "");
		const given = random.chance(90) ? bend(random, params(threadId)) : anything(random);
		const id = random.chance(70) ? number : `s${number}`;
		return { message: { id, method, params: given }, answer: JSON.stringify(id) };
	},
	read(message) {
		if ("method" in message) return { answer: null, fault: null, seen: null };
		const { result, error } = message;
		const thread = isRecord(result) && isRecord(result["thread"]) ? result["thread"]["id"] : null;
		const text = isRecord(error) ? String(error["message"]) : "";
		// The thread was archived meanwhile, or the input has ended.
		const isEnding = text === "The session is closing." || text === "The program is ending.";
		const isOurs = isRecord(error) && !isEnding && (error["code"] === -32603 || bug.test(text));
		return {
			answer: JSON.stringify(message["id"]),
			fault: isOurs ? "an error of ours" : null,
			seen: typeof thread === "string" ? thread : null,
		};
	},
});
