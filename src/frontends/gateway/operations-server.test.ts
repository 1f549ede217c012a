import { describe, expect, it, onTestFinished } from "vitest";
import { sendRaw } from "../../../test/support/gateway/raw-client.ts";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { silentLog } from "../../base/log.ts";
import { startOperationsServer } from "./operations-server.ts";

describe("the server of operators", () => {
	it("ends at once, whatever was asked and not finished", async () => {
		const clock = createFakeClock();
		const { port, close } = await startOperationsServer({
			host: "127.0.0.1",
			port: 0,
			tls: null,
			tokens: { scopeOf: async () => "observe" },
			operations: { isReady: async () => true, metrics: () => new Promise<never>(() => {}) },
			clock,
			log: silentLog,
		});
		const head = "Host: here\r\nAuthorization: Bearer t\r\n";
		const connections = [
			"",
			"GET /hea",
			`GET /metrics HTTP/1.1\r\n${head}\r\n`,
			"POST / HTTP/1.1\r\nContent-Length: 9\r\n",
		].map((bytes) => sendRaw(port, bytes));
		onTestFinished(() => {
			for (const { socket } of connections) socket.destroy();
		});
		const probe = sendRaw(port, `GET /healthz HTTP/1.1\r\n${head}\r\n`);
		await probe.until((text) => text.includes("ok"));
		await close();
		await Promise.all([...connections, probe].map(({ closed }) => closed));
		expect(connections.map((each) => each.statuses())).toEqual([[], [], [], []]);
		expect(clock.waiting()).toBe(0);
	});
});
