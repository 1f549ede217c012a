// Connections between gateways and workers as programs, encrypted: with certificates of an authority made for it, and what is refused.
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { connect as connectSecurely, createServer as createSecureServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from "vitest";
import { runTurn } from "../../examples/durable/run-turn.mjs";
import { readWorkerAddress } from "../../src/cluster/worker-address.ts";
import { type ClusterPrograms, createClusterPrograms, type Program } from "../support/postgres/cluster-programs.ts";
import { createFaultProxy } from "../support/postgres/fault-proxy.ts";
import { findPort } from "../support/postgres/postgres-server.ts";

const url = inject("postgresUrl");
const fileOf = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));
const pem = (name: string) => readFileSync(fileOf(name));
/** The certificate of the authority of these tests, for the loopback interface. */
const encrypted = ["--tls-cert", fileOf("server"), "--tls-key", fileOf("server-key")];
const zeros = "0".repeat(64);

describe.skipIf(url === "")("an encrypted connection to a worker", { timeout: 60_000 }, () => {
	let programs: ClusterPrograms;
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
	});
	afterEach(() => programs.cleanUp());

	const startGateway = async () => programs.connect(await programs.start(["serve", "--port", "0"]));
	const log = () => readFile(path.join(programs.home, "logs", "agentwire.log"), "utf8");
	const addressOf = ({ ready }: Program) => {
		const address = readWorkerAddress(String(ready["address"]));
		if (address === null) throw new Error("no address");
		return address;
	};
	/** Something else that listens where the database says that the worker is. */
	async function listenAs(name: string, serve: (socket: Socket) => void): Promise<number> {
		const server = createSecureServer({ cert: pem(name), key: pem(`${name}-key`) }, (socket) => {
			socket.on("error", () => {});
			serve(socket);
		});
		server.on("tlsClientError", () => {});
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		onTestFinished(() => void server.close());
		const bound = server.address();
		return bound === null || typeof bound === "string" ? 0 : bound.port;
	}

	it("carries turns, and nothing of them can be read", async () => {
		const port = await findPort();
		const proxy = await createFaultProxy(port);
		onTestFinished(() => proxy.close());
		const passed = proxy.record();
		await programs.start([
			...["worker", "--listen", `127.0.0.1:${port}`, "--announce", `127.0.0.1:${proxy.port}`],
			...encrypted,
		]);
		const { gateway, call } = await startGateway();
		const { sessionId } = await call("sessions.create", { workDir: programs.home });
		const turn = await runTurn(gateway, { sessionId, key: "k", input: "text: what-was-said" });
		expect(turn).toMatchObject({ outcome: { status: "finished" }, text: "what-was-said" });
		const bytes = passed();
		expect(bytes.length).toBeGreaterThan(1_000);
		for (const clear of ["what-was-said", sessionId, '"agentwire"']) expect(bytes.includes(clear)).toBe(false);
	});

	it.each([
		["of another authority, for the same name", "stranger"],
		["that anybody can have made", "server"],
	])(
		"is refused by the gateway where somebody in between has a certificate %s, unless it is that of the worker",
		async (_, name) => {
			const port = await findPort();
			const between = await listenAs(name, (socket) => {
				const onward = connectSecurely({ host: "127.0.0.1", port, rejectUnauthorized: false });
				onward.on("error", () => {});
				socket.pipe(onward).pipe(socket);
			});
			const own = name === "server" ? ["stranger", "stranger-key"] : ["server", "server-key"];
			const files = ["--tls-cert", fileOf(own[0] ?? ""), "--tls-key", fileOf(own[1] ?? "")];
			const worker = ["worker", "--listen", `127.0.0.1:${port}`, "--announce", `127.0.0.1:${between}`, ...files];
			await programs.start(worker);
			const { call } = await startGateway();
			await expect(call("sessions.create", { workDir: programs.home })).rejects.toThrow(
				/^The worker \S+ cannot be reached at 127\.0\.0\.1:\d+: its certificate is not the one that it announced\.$/,
			);
		},
	);

	it("is refused by the gateway where the other end has the certificate and not the secret", async () => {
		const thief = await listenAs("server", (socket) => {
			socket.write(`${JSON.stringify({ agentwire: "worker", version: 1, nonce: zeros })}\n`);
			socket.once("data", () => socket.write(`${JSON.stringify({ proof: zeros })}\n`));
		});
		await programs.start(["worker", "--announce", `127.0.0.1:${thief}`, ...encrypted]);
		const { call } = await startGateway();
		await expect(call("sessions.create", { workDir: programs.home })).rejects.toThrow(
			"The other end of the connection was refused: it is not the worker that the database names.",
		);
	});

	it("is refused by the gateway where the other end does not encrypt", async () => {
		const plain = await programs.start(["worker"]);
		await programs.start(["worker", "--tag", "t", "--announce", String(plain.ready["address"]), ...encrypted]);
		const { call } = await startGateway();
		await expect(call("sessions.create", { workDir: programs.home, needs: ["t"] })).rejects.toThrow(
			/^The worker \S+ cannot be reached at /,
		);
	});

	it.each(["by TLS", "in the clear"])(
		"is refused by the worker for whoever does not know its secret, %s",
		async (way) => {
			const place = addressOf(await programs.start(["worker", ...(way === "by TLS" ? encrypted : [])]));
			const socket = way === "by TLS" ? connectSecurely({ ...place, ca: pem("authority") }) : connect(place);
			socket.on("error", () => {});
			const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
			const { nonce } = JSON.parse(String((await lines.next()).value));
			const own = randomBytes(32).toString("hex");
			const proof = createHmac("sha256", "guessed").update(`front end ${nonce} ${own}`).digest("hex");
			socket.write(`${JSON.stringify({ nonce: own, proof })}\n`);
			expect(await lines.next()).toMatchObject({ done: true });
			await expect.poll(log).toContain("it does not know the secret of this worker");
		},
	);

	it("is refused by a worker that encrypts for whoever does not", async () => {
		const place = addressOf(await programs.start(["worker", ...encrypted]));
		const socket = connect(place);
		let said = "";
		socket
			.on("error", () => {})
			.on("data", (bytes) => {
				said += String(bytes);
			});
		socket.write("GET / HTTP/1.1\r\n\r\n");
		await once(socket, "close");
		expect(said).not.toContain("agentwire");
	});
});

describe.skipIf(url === "")("the certificate of a worker", { timeout: 60_000 }, () => {
	let programs: ClusterPrograms;
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
		await writeFile(path.join(programs.home, "rubbish.pem"), "rubbish");
	});
	afterEach(() => programs.cleanUp());

	it.each([
		[
			"is missing for an address that others reach",
			["--listen", "0.0.0.0:0"],
			2,
			/--tls-cert and --tls-key, or --allow-unencrypted/,
		],
		["is not there", ["--tls-cert", "nowhere.pem", "--tls-key", fileOf("server-key")], 2, /--tls-cert.*nowhere\.pem/],
		["is given without its key", ["--tls-cert", fileOf("server")], 2, /Give --tls-cert and --tls-key together/],
		[
			"is none",
			["--tls-cert", "rubbish.pem", "--tls-key", fileOf("server-key")],
			2,
			/--tls-cert.*rubbish\.pem.*certificate/,
		],
		[
			"is not that of the key",
			["--tls-cert", fileOf("server"), "--tls-key", fileOf("stranger-key")],
			2,
			/--tls-key.*does not belong/,
		],
		[
			"has a key that is none",
			["--tls-cert", fileOf("server"), "--tls-key", "rubbish.pem"],
			2,
			/--tls-key.*rubbish\.pem.*key/,
		],
	])("%s", async (_, words, code, expected) => {
		const run = await programs.run(["worker", ...words]);
		expect(run.stderr).toMatch(expected);
		expect(run.code).toBe(code);
	});
});
