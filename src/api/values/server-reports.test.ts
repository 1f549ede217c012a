import { describe, expect, it } from "vitest";
import type { McpStatus } from "./event.ts";
import { ServerReports } from "./server-reports.ts";

type Status = McpStatus["servers"][number]["status"];

const status = (...servers: readonly (readonly [string, Status])[]): McpStatus => ({
	...{ loading: false, connected: 0, total: servers.length, tools: 0 },
	servers: servers.map(([name, each]) => ({ name, status: each, tools: [] })),
});

describe("the reports about MCP servers", () => {
	it("name each server that cannot be used, once", () => {
		const reports = new ServerReports();
		const now = status(["files", "failed"], ["web", "unauthorized"], ["good", "connected"], ["slow", "connecting"]);
		expect(reports.take(now)).toEqual([
			{ name: "files", status: "failed" },
			{ name: "web", status: "unauthorized" },
		]);
		expect(reports.take(now)).toEqual([]);
	});

	it("name a server anew that could be used in between, and not one that is only tried again", () => {
		const reports = new ServerReports();
		for (const [each, count] of [
			["failed", 1],
			["connecting", 0],
			["failed", 0],
			["connected", 0],
			["failed", 1],
		] as const) {
			expect(reports.take(status(["files", each]))).toHaveLength(count);
		}
	});
});
