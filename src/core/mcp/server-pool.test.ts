import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createProgram } from "../../../test/support/mcp/mcp-program.ts";
import type { LocalMcpServer } from "../../api/mcp-servers.ts";
import { silentLog } from "../../base/log.ts";
import { ServerPool } from "./server-pool.ts";

const server: LocalMcpServer = {
	kind: "local",
	name: "srv",
	command: "serve",
	arguments: [],
	environment: {},
	workDir: null,
	callTimeout: null,
	filter: { names: null, hidden: [], includeTags: null, excludeTags: [] },
};
const place = { workDir: "/work", startDir: "/share", environment: { A: "1" } };

function createPool() {
	const program = createProgram();
	const pool = new ServerPool({
		processes: program.processes,
		authorization: { provider: async () => null, needs: async () => {}, settled: async () => {} },
		fetch: () => Promise.reject(new Error("there is no network here")),
		clock: createFakeClock(),
		log: silentLog,
		version: "1",
	});
	return { program, pool };
}

describe("connections", () => {
	it("are shared by all acquirers of the same server in the same directory", async () => {
		const { program, pool } = createPool();
		const leases = [pool.acquire(server, place), pool.acquire({ ...server }, { ...place })] as const;
		await Promise.all(leases.map(({ connection }) => connection.connect()));
		expect(program.runs).toHaveLength(1);
		leases[0].release();
		leases[0].release();
		expect(program.run().isOver).toBe(false);
		leases[1].release();
		await pool.close();
		expect(program.run().isOver).toBe(true);
	});

	it.each([
		["command", { ...server, command: "other" }, place],
		["work dir", server, { ...place, workDir: "/other" }],
		["environment", server, { ...place, environment: { A: "2" } }],
	])("are separate for another %s", (_, other, elsewhere) => {
		const { pool } = createPool();
		const { connection } = pool.acquire(server, place);
		expect(pool.acquire(other, elsewhere).connection).not.toBe(connection);
	});

	it("start anew after the last release", async () => {
		const { program, pool } = createPool();
		const first = pool.acquire(server, place);
		await first.connection.connect();
		first.release();
		const second = pool.acquire(server, place);
		await second.connection.connect();
		expect(program.runs).toHaveLength(2);
		await pool.close();
		expect(program.runs.map(({ isOver }) => isOver)).toEqual([true, true]);
	});
});
