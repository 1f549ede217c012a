// Plays answers on loopback, over TCP and over TLS: a request names by its path the answer that it is to be given.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createServer as createSecureServer } from "node:tls";
import type { AnswerScript } from "./answers-script.ts";

export interface AnswerServer {
	/** The root for the requests that are to get this answer, and whether one has come. */
	play(script: AnswerScript, isSecure: boolean): { readonly url: string; isAsked(): boolean };
	/** Connections there have been. */
	connections(): number;
	/** Ends every connection, and takes no more. */
	close(): Promise<void>;
}

const certificates = new URL("../../fixtures/tls/", import.meta.url);
const readCertificate = (name: string) => readFileSync(new URL(name, certificates));
export const authorityFile = new URL("authority.pem", certificates).pathname;

export async function startAnswerServer(): Promise<AnswerServer> {
	const scripts = new Map<string, AnswerScript>();
	const sockets = new Set<Socket>();
	let next = 0;
	let count = 0;
	const serve = (socket: Socket) => {
		count += 1;
		sockets.add(socket);
		socket.on("error", () => {});
		socket.on("close", () => sockets.delete(socket));
		answerRequests(socket, (name) => {
			const script = scripts.get(name) ?? null;
			scripts.delete(name);
			return script;
		});
	};
	const plain = createServer({ noDelay: true, allowHalfOpen: true }, serve);
	const identity = { key: readCertificate("server-key.pem"), cert: readCertificate("server.pem") };
	const secure = createSecureServer({ ...identity, noDelay: true }, serve);
	secure.on("tlsClientError", () => {});
	const [plainPort, securePort] = await Promise.all([listen(plain), listen(secure)]);
	return {
		play(script, isSecure) {
			next += 1;
			const name = `a${next}`;
			scripts.set(name, script);
			const root = isSecure ? `https://127.0.0.1:${securePort}` : `http://127.0.0.1:${plainPort}`;
			return { url: `${root}/${name}`, isAsked: () => !scripts.delete(name) };
		},
		connections: () => count,
		async close() {
			for (const socket of sockets) socket.end();
			await pause(20);
			for (const socket of sockets) socket.destroy();
			await Promise.all([plain, secure].map((server) => new Promise((resolve) => server.close(resolve))));
		},
	};
}

async function listen(server: Server): Promise<number> {
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return (server.address() as AddressInfo).port;
}

/** Answers the requests of one connection, one after the other. */
function answerRequests(socket: Socket, take: (name: string) => AnswerScript | null): void {
	let received = Buffer.alloc(0);
	let script: AnswerScript | null = null;
	let state: "waiting" | "playing" | "played" = "waiting";
	const look = () => {
		// What the last answer ended cannot be answered any more.
		if (!socket.writable) return;
		const end = received.indexOf("\r\n\r\n");
		if (end === -1 || state === "playing") return;
		const head = received.toString("latin1", 0, end);
		const length = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
		const isWhole = received.length >= length;
		if (state === "played") {
			if (!isWhole) return;
			received = received.subarray(length);
			state = "waiting";
			look();
			return;
		}
		script ??= take(/^[A-Z]+ \/(a\d+)\//.exec(head)?.[1] ?? "");
		if (script === null) {
			socket.destroy();
			return;
		}
		if (script.isPatient && !isWhole) return;
		state = "playing";
		void play(socket, script).then(() => {
			script = null;
			state = "played";
			look();
		});
	};
	socket.on("data", (bytes) => {
		received = Buffer.concat([received, bytes]);
		look();
	});
	socket.on("end", () => {
		if (state !== "playing") socket.end();
	});
}

async function play(socket: Socket, { actions }: AnswerScript): Promise<void> {
	for (const action of actions) {
		if (socket.destroyed) return;
		switch (action.kind) {
			case "write":
				if (!socket.write(action.bytes)) await drained(socket);
				// A piece of its own for the other side, if it is quick enough.
				if (action.bytes.length < 5000) await new Promise((resolve) => setImmediate(resolve));
				break;
			case "pause":
				await pause(action.milliseconds);
				break;
			case "end":
				socket.end();
				break;
			case "destroy":
				socket.destroy();
				break;
			case "reset":
				if ("getCipher" in socket) socket.destroy();
				else socket.resetAndDestroy();
				break;
			case "hang":
				break;
		}
	}
}

function drained(socket: Socket): Promise<void> {
	return new Promise((resolve) => {
		const go = () => {
			socket.off("drain", go);
			socket.off("close", go);
			resolve();
		};
		socket.on("drain", go);
		socket.on("close", go);
	});
}
