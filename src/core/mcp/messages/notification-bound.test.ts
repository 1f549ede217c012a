import { expect, it } from "vitest";
import { createTransportDouble } from "../../../../test/support/mcp/transport-double.ts";
import { boundNotifications } from "./notification-bound.ts";

const jsonrpc = "2.0";

it("passes 200 notifications of work on in a tenth of a second, and everything else", () => {
	const { transport, received } = createTransportDouble();
	let now = 0;
	let ignoring = 0;
	boundNotifications(transport, { monotonic: () => now }, () => {
		ignoring += 1;
	});
	const notify = (method: string) => transport.onmessage?.({ jsonrpc, method, params: {} });
	const flood = () => {
		for (let n = 0; n < 150; n += 1) for (const kind of ["progress", "message"]) notify(`notifications/${kind}`);
	};
	flood();
	expect([received.length, ignoring]).toEqual([200, 1]);
	notify("notifications/tools/list_changed");
	transport.onmessage?.({ jsonrpc, id: 1, result: {} });
	transport.onmessage?.({ jsonrpc, id: 2, method: "ping" });
	expect(received).toHaveLength(203);
	now = 99;
	notify("notifications/progress");
	expect(received).toHaveLength(203);
	now = 100;
	flood();
	expect([received.length, ignoring]).toEqual([403, 1]);
});
