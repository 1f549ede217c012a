// Tools of a client that a session cannot have.
import { expect, it } from "vitest";
import { createSpokenServer } from "../../../test/support/meerkat/spoken-server.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";

it("a tool that has the name of a built-in one is reported before the first run, and once", async () => {
	const server = await createSpokenServer(["pong"], createMemoryStore());
	const tool = (name: string) => ({ name, description: "Does it.", input_schema: { type: "object" } });
	await server.ask("tools/register", { tools: [tool("Shell"), tool("paint")] });
	const { result } = await server.ask("session/create", { prompt: "one" });
	const session_id: unknown = Object(result)["session_id"];
	await server.ask("turn/start", { session_id, prompt: "two" });
	expect(server.events().slice(0, 2)).toMatchObject([
		{
			type: "tool_config_changed",
			payload: { operation: "add", target: "callback:Shell", status_info: { phase: "failed" }, settled: true },
		},
		{ type: "run_started" },
	]);
	const types = server.events().map(({ type }) => type);
	expect(types.filter((type) => type === "tool_config_changed")).toHaveLength(1);
	await server.end();
});
