// What clients hear of the MCP servers that they change.
import { expect, it } from "vitest";
import { createSpokenServer } from "../../../test/support/meerkat/spoken-server.ts";
import { isRecord } from "../../base/json.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";

it("a server that is removed before the next turn is not announced with that turn", async () => {
	const server = await createSpokenServer(["pong"], createMemoryStore());
	const { result } = await server.ask("session/create", { prompt: "", initial_turn: "deferred" });
	const session_id = isRecord(result) ? result["session_id"] : null;
	const added = await server.ask("mcp/add", { session_id, server_config: { name: "gone", command: "/bin/none" } });
	expect(added["result"]).toMatchObject({ status: "staged" });
	const removed = await server.ask("mcp/remove", { session_id, server_name: "gone" });
	expect(removed["result"]).toMatchObject({ status: "staged" });
	for (const prompt of ["one", "two"]) await server.ask("turn/start", { session_id, prompt });
	const types = server.events().map(({ type }) => type);
	expect(types.filter((type) => type === "run_completed")).toHaveLength(2);
	expect(types).not.toContain("tool_config_changed");
	await server.end();
});
