// The floor of the gateway's measurement: carries the deltas of a provider to the clients with as little as Node can do it with.
// It speaks just enough of the gateway's protocol to be measured in its place, and has no agent, no journal and no merging:
// the provider's stream is read with node:http, each event is parsed, and each delta is written as one event of the same form and
// length as the gateway's. What comes in one turn of the event loop is one write for each stream. A program without a build or a
// loader, so that its memory is that of Node.
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import path from "node:path";

/** Bytes that wait for a client above which it loses deltas, as with the gateway: one that does not read must not fill the memory. */
const mostWaiting = 262_144;

const { models, default_model, providers } = JSON.parse(process.argv[process.argv.indexOf("--config") + 1]);
const { provider, model } = models[default_model];
const { base_url, api_key } = providers[provider];
const token = randomBytes(32).toString("hex");
const epoch = randomBytes(16).toString("hex");
const agent = new Agent({ keepAlive: true });
/** By its id, each session: the number of its last stored event, and the streams that carry it. */
const sessions = new Map();
/** The streams that have something to write in this turn of the event loop. */
const unwritten = new Set();

function writeAll() {
	for (const stream of unwritten) {
		stream.response.write(stream.text);
		stream.text = "";
	}
	unwritten.clear();
}

function add(stream, text) {
	if (unwritten.size === 0) setImmediate(writeAll);
	unwritten.add(stream);
	stream.text += text;
}

/** A stored event: numbered, and sent to clients that do not read as well. */
function sendStored(session, fields) {
	session.seq += 1;
	const event = { sessionId: session.id, at: Date.now(), seq: session.seq, epoch, ...fields };
	const text = `id: ${session.id}@${epoch}:${session.seq}\nevent: e\ndata: ${JSON.stringify(event)}\n\n`;
	for (const stream of session.streams) add(stream, text);
}

function sendDelta(session, turnId, part, offset) {
	const event = { sessionId: session.id, turnId, agentPath: [], at: Date.now(), type: "content.delta", part, offset };
	const text = `event: v\ndata: ${JSON.stringify(event)}\n\n`;
	for (const stream of session.streams) {
		if (stream.response.writableLength < mostWaiting) add(stream, text);
	}
}

function runTurn(session, turnId, input) {
	sendStored(session, { turnId, agentPath: [], type: "turn.started", input });
	const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: input }] });
	const headers = {
		authorization: `Bearer ${api_key}`,
		"content-type": "application/json",
		"content-length": Buffer.byteLength(body),
	};
	const asking = request(`${base_url}/chat/completions`, { method: "POST", agent, headers }, (response) => {
		let rest = "";
		let answer = "";
		response.setEncoding("utf8");
		response.on("data", (piece) => {
			const blocks = (rest + piece).split("\n\n");
			rest = blocks.pop();
			for (const block of blocks) {
				const data = block.slice("data: ".length);
				if (data === "[DONE]") continue;
				const { content } = JSON.parse(data).choices[0].delta;
				if (content === undefined) continue;
				sendDelta(session, turnId, { type: "text", text: content }, answer.length);
				answer += content;
			}
		});
		response.on("end", () => {
			sendStored(session, { turnId, agentPath: [], type: "content.completed", part: { type: "text", text: answer } });
			sendStored(session, { turnId, agentPath: [], type: "turn.ended", outcome: { status: "finished" } });
		});
	});
	asking.end(body);
}

const methods = {
	"sessions.create": () => {
		const id = randomUUID();
		sessions.set(id, { id, seq: 0, streams: new Set() });
		return { sessionId: id };
	},
	"turn.start": ({ sessionId, input }) => {
		const turnId = randomBytes(16).toString("hex");
		runTurn(sessions.get(sessionId), turnId, input);
		return { turnId };
	},
};

function answerCall(incoming, response) {
	let body = "";
	incoming.setEncoding("utf8");
	incoming.on("data", (piece) => {
		body += piece;
	});
	incoming.on("end", () => {
		const { id, method, params } = JSON.parse(body);
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify({ jsonrpc: "2.0", id, result: methods[method](params) }));
	});
}

function openStream(ids, response) {
	const stream = { response, text: "" };
	const carried = ids.map((id) => sessions.get(id));
	for (const session of carried) session.streams.add(stream);
	response.on("close", () => {
		unwritten.delete(stream);
		for (const session of carried) session.streams.delete(stream);
	});
	response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
	response.flushHeaders();
}

const server = createServer((incoming, response) => {
	const { pathname, searchParams } = new URL(incoming.url, "http://localhost");
	if (incoming.headers.authorization !== `Bearer ${token}`) response.writeHead(401).end();
	else if (pathname === "/rpc") answerCall(incoming, response);
	else if (pathname === "/events") openStream(searchParams.get("sessions").split(","), response);
	else response.writeHead(404).end();
});
server.listen(0, "127.0.0.1", () => {
	const folder = process.env.KIMI_SHARE_DIR;
	mkdirSync(folder, { recursive: true });
	const tokens = path.join(folder, "gateway.json");
	writeFileSync(tokens, JSON.stringify({ tokens: [{ token, scope: "control" }] }), { mode: 0o600 });
	console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}`, tokens }));
});
