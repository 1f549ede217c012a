import { expect, it } from "vitest";
import { createTransportDouble } from "../../../../test/support/mcp/transport-double.ts";
import { boundRequests } from "./request-bound.ts";

const jsonrpc = "2.0";

function createSubject() {
	const { transport, received } = createTransportDouble();
	let exceeded = 0;
	boundRequests(transport, () => {
		exceeded += 1;
	});
	return {
		received,
		exceeded: () => exceeded,
		request: (id: number) => transport.onmessage?.({ jsonrpc, id, method: "ping" }),
		notify: (method: string, params: Record<string, unknown>) => transport.onmessage?.({ jsonrpc, method, params }),
		respond: (id: number) => transport.onmessage?.({ jsonrpc, id, result: {} }),
		answer: (id: number) => transport.send({ jsonrpc, id, result: {} }),
	};
}

it("lets 200 requests of a server be answered at a time, and reports one more once", async () => {
	const { received, exceeded, request, notify, answer } = createSubject();
	for (let id = 0; id < 200; id += 1) request(id);
	await answer(0);
	notify("notifications/cancelled", { requestId: 1 });
	request(200);
	request(201);
	expect([received.length, exceeded()]).toEqual([203, 0]);
	for (let id = 202; id < 210; id += 1) request(id);
	expect([received.length, exceeded()]).toEqual([203, 1]);
});

it("does not count answers and notifications, and ignores a request whose id is in use", () => {
	const { received, exceeded, request, notify, respond } = createSubject();
	for (let id = 0; id < 1000; id += 1) {
		respond(id);
		notify("notifications/message", {});
		request(5);
	}
	expect([received.length, exceeded()]).toEqual([2001, 0]);
});
