import { request } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { observe, openGateway } from "../../../test/support/gateway/gateway-place.ts";
import type { ConnectionCounts } from "./operations.ts";

function ask(port: number, method: string, path: string, headers: Record<string, string> = {}) {
	return new Promise<{ status: number; text: string }>((resolve, reject) => {
		const sent = request({ host: "127.0.0.1", port, method, path, headers }, async (response) => {
			let text = "";
			for await (const piece of response) text += String(piece);
			resolve({ status: response.statusCode ?? 0, text });
		});
		sent.on("error", reject);
		sent.end();
	});
}

async function createSubject() {
	const state = { isReady: true };
	const counts: ConnectionCounts[] = [];
	const { port, close } = await openGateway({}, null, {
		isReady: async () => state.isReady,
		async metrics(connections) {
			counts.push(connections);
			return { type: "application/openmetrics-text", text: "# EOF\n" };
		},
	});
	onTestFinished(close);
	return { port, state, counts };
}

describe("what operators ask", () => {
	it("is answered without a token where it says no more than whether the server works", async () => {
		const { port, state } = await createSubject();
		expect(await ask(port, "GET", "/healthz")).toEqual({ status: 200, text: "ok\n" });
		expect(await ask(port, "GET", "/readyz?verbose=1")).toEqual({ status: 200, text: "ok\n" });
		expect(await ask(port, "HEAD", "/readyz")).toEqual({ status: 200, text: "" });
		state.isReady = false;
		expect(await ask(port, "GET", "/readyz")).toEqual({ status: 503, text: "not ok\n" });
		expect(await ask(port, "GET", "/healthz")).toEqual({ status: 200, text: "ok\n" });
	});

	it("is refused by another name, to another site, and with another method", async () => {
		const { port } = await createSubject();
		for (const path of ["/healthz", "/readyz"]) {
			expect(await ask(port, "GET", path, { host: `evil.test:${port}` })).toMatchObject({ status: 421 });
			expect(await ask(port, "GET", path, { origin: "http://evil.test" })).toMatchObject({ status: 403 });
			expect(await ask(port, "POST", path)).toMatchObject({ status: 405 });
		}
	});

	it("needs a token for metrics, of either scope", async () => {
		const { port, counts } = await createSubject();
		expect(await ask(port, "GET", "/metrics")).toMatchObject({ status: 401 });
		const authorization = `Bearer ${observe}`;
		expect(await ask(port, "GET", "/metrics", { authorization })).toEqual({ status: 200, text: "# EOF\n" });
		expect(counts).toEqual([{ streams: 0, clients: 0 }]);
		expect(await ask(port, "POST", "/metrics", { authorization })).toMatchObject({ status: 405 });
	});

	it("is not there where nothing is measured", async () => {
		const { port, close } = await openGateway();
		onTestFinished(close);
		expect(await ask(port, "GET", "/metrics", { authorization: `Bearer ${observe}` })).toMatchObject({ status: 404 });
		expect(await ask(port, "GET", "/healthz")).toMatchObject({ status: 401 });
	});
});
