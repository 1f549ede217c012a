// The fuzz campaign of the gateway: bytes that are no HTTP, requests that mean nothing, streams that stall or are cut, and
// sockets that speak nonsense. Everything is answered or closed, never with an error of ours, and others are served.
import { WebSocket } from "ws";
import { isRecord } from "../../../src/base/json.ts";
import { methodNames } from "../../../src/frontends/gateway/protocol.ts";
import { control, openGateway } from "../../support/gateway/gateway-place.ts";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { createRandom, type Random } from "../random.ts";
import { CampaignClient } from "./client.ts";
import { sendFrames, sendPipeline } from "./fuzz-bytes.ts";

/** Milliseconds in which somebody else is answered, whatever was sent. */
const serviceTime = 2000;

interface Round {
	readonly random: Random;
	readonly client: CampaignClient;
	readonly port: number;
	readonly sessionId: string;
	readonly tally: Tally;
}
type Play = (round: Round) => Promise<string | null>;

const paths = [
	"/rpc",
	"/events",
	"/acp",
	"/wire",
	"/interactions/i",
	"/sessions/s/history",
	"/",
	"*",
	"/%00",
	"//x/../rpc",
] as const;
const verbs = ["GET", "POST", "PUT", "OPTIONS", "CONNECT", "TRACE", "get", "\0"] as const;
const headerLines = [
	"Content-Length: 5",
	"Content-Length: -1",
	"Content-Length: 99999999999999999999",
	"Transfer-Encoding: chunked",
	"Transfer-Encoding: chunked, gzip",
	"Content-Type: application/json",
	"Connection: Upgrade",
	"Upgrade: websocket",
	"Upgrade: h2c",
	"Sec-WebSocket-Version: 13",
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
	"Sec-WebSocket-Key: x",
	"Expect: 100-continue",
	"Content-Type: text/plain",
	"Accept: */*",
	"Host: evil.test",
	"Origin: null",
	": empty",
	"a b: c",
	"X: \u0001",
] as const;

/** A request that may be none. */
const sendBytes: Play = async ({ random, client, port, tally }) => {
	const lines = [
		`${random.pick(random.chance(70) ? (["GET", "POST"] as const) : verbs)} ${random.pick(paths)} HTTP/${random.chance(80) ? "1.1" : random.pick(["1.0", "9.9", ""] as const)}`,
	];
	if (random.chance(80)) lines.push(`Host: 127.0.0.1:${port}`);
	if (random.chance(60)) lines.push(`Authorization: Bearer ${control}`);
	for (let count = random.below(4); count > 0; count -= 1) lines.push(random.pick(headerLines));
	const bytes = Buffer.from(
		`${lines.join("\r\n")}\r\n\r\n${random.pick(["", "{}", "5\r\nhello\r\n0\r\n\r\n", "x".repeat(9000)] as const)}`,
	);
	for (let count = random.chance(20) ? 1 + random.below(4) : 0; count > 0; count -= 1) {
		bytes[random.below(bytes.length)] = random.below(256);
	}
	const { text, isEnded } = await client.sendBytes(bytes);
	const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
	tally.add(status === undefined ? (isEnded ? "bytes closed" : "bytes waited for") : `bytes answered ${status}`);
	return status === "500" ? `500 for ${JSON.stringify(bytes.toString("latin1"))}` : null;
};

const scalars = [null, true, 0, -1, 1e308, "", "x", "../..", "\u0000", "constructor"] as const;
function toValue(random: Random, sessionId: string, depth = 0): unknown {
	if (random.chance(20)) return sessionId;
	if (depth > 2 || random.chance(50)) return random.pick(scalars);
	const count = random.below(4);
	if (random.chance(50)) return Array.from({ length: count }, () => toValue(random, sessionId, depth + 1));
	const keys = ["sessionId", "input", "files", "name", "data", "type", "answer", "kind", "__proto__", "title"] as const;
	return Object.fromEntries(
		Array.from({ length: count }, () => [random.pick(keys), toValue(random, sessionId, depth + 1)]),
	);
}

/** A method with params that it may not take. */
const callMethod: Play = async ({ random, client, sessionId, tally }) => {
	const method = random.chance(95) ? (methodNames[random.below(methodNames.length)] ?? "") : "nothing";
	// The session that the others are tried with stays.
	if (method === "sessions.delete" || method === "sessions.archive") return null;
	const given = toValue(random, sessionId);
	const params = isRecord(given) && random.chance(70) ? { sessionId, ...given } : given;
	const body = JSON.stringify({ jsonrpc: "2.0", id: random.pick<unknown>([1, "a", null]), method, params });
	const { status, body: answer } = await client.send({
		method: "POST",
		path: "/rpc",
		headers: { "content-type": "application/json" },
		body,
	});
	tally.add(`calls answered ${status}`);
	const isInternal = JSON.stringify(answer).includes("-32603");
	return status >= 500 || isInternal ? `${body} was answered ${status} ${JSON.stringify(answer)}` : null;
};

/** A stream that stalls, is cut or begins anywhere. */
const openStream: Play = async ({ random, client, sessionId, tally }) => {
	const cursor = random.chance(50)
		? null
		: `${sessionId}@${random.pick(["x", "", "a:b"] as const)}:${random.below(100)}`;
	try {
		const stream = await client.stream(random.chance(80) ? sessionId : "nobody", cursor, () => {});
		if (random.chance(30)) stream.pause();
		else await Promise.race([stream.begun, new Promise((resolve) => setTimeout(resolve, 20))]);
		stream.cut();
		tally.add("streams cut");
	} catch (thrown) {
		tally.add("streams refused");
		return String(thrown).includes("refused with 5") ? String(thrown) : null;
	}
	return null;
};

/** A socket whose messages are none of its protocol. */
const talkNonsense: Play = ({ random, port, sessionId, tally }) =>
	new Promise((resolve) => {
		const path = random.pick(["/acp", `/wire?session=${sessionId}`] as const);
		const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, ["agentwire", `agentwire.bearer.${control}`]);
		const texts = Array.from({ length: 1 + random.below(5) }, () =>
			random.chance(30)
				? random.pick(["", "{", "[]", "\n", "null", "[".repeat(5000)] as const)
				: JSON.stringify({
						jsonrpc: "2.0",
						id: random.pick<unknown>([1, "a", null, {}]),
						method: random.pick([
							"initialize",
							"session/new",
							"session/prompt",
							"prompt",
							"replay",
							"cancel",
							"x",
						] as const),
						params: toValue(random, sessionId),
					}),
		);
		socket.on("error", () => {});
		socket.on("open", () => {
			for (const text of texts) socket.send(text);
			// Its end is cut or in order, with answers under way or not.
			setTimeout(() => (random.chance(50) ? socket.terminate() : socket.close()), random.below(10));
		});
		socket.on("close", (code) => {
			tally.add(`sockets ended ${code}`);
			resolve(code === 1011 ? `a socket ended with 1011 after ${JSON.stringify(texts)}` : null);
		});
	});

/** Requests one after the other on one connection. */
const pipeline: Play = async ({ random, port, tally }) => {
	const { fault, answers } = await sendPipeline(random, port);
	tally.add("pipelines sent");
	for (let count = answers; count > 0; count -= 1) tally.add("pipelined requests answered");
	return fault;
};

/** Frames that no library would send. */
const frames: Play = async ({ random, port, sessionId, tally }) => {
	tally.add("sockets given frames");
	return await sendFrames(random, port, random.pick(["/acp", `/wire?session=${sessionId}`] as const));
};

const plays: readonly [Play, ...Play[]] = [
	sendBytes,
	callMethod,
	callMethod,
	openStream,
	talkNonsense,
	pipeline,
	frames,
];

export async function runFuzz({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	return await reportOn("fuzz", seed, async () => {
		const random = createRandom(seed);
		const tally = new Tally();
		const findings: string[] = [];
		const place = await openGateway();
		try {
			const client = new CampaignClient(place.port, control);
			const sessionId = await client.createSession();
			const round: Round = { random, client, port: place.port, sessionId, tally };
			for (let number = 1; number <= rounds; number += 1) {
				// Several at once, as clients are.
				const found = await Promise.all([random.pick(plays)(round), random.pick(plays)(round)]);
				findings.push(...found.flatMap((text) => (text === null ? [] : [`round ${number}, seed ${seed}: ${text}`])));
				if (number % 50 !== 0) continue;
				const startedAt = performance.now();
				await client.result("server.info", {});
				const took = performance.now() - startedAt;
				if (took > serviceTime) findings.push(`round ${number}, seed ${seed}: others waited ${took.toFixed(0)} ms`);
				if (number % 500 === 0) log(`${number} rounds`);
			}
			await place.host.interrupt(sessionId);
		} finally {
			await place.close();
		}
		return { rounds, findings, figures: tally.figures() };
	});
}
