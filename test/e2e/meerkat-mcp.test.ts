// A published MCP server in sessions of Meerkat RPC: added, used, started again and taken away.
import { createRequire } from "node:module";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import type { ServerLine } from "../support/executable/running-server.ts";
import { answer, ask, createDeferred, end, serve } from "../support/meerkat/meerkat-lines.ts";
import { startRecordedModel } from "../support/meerkat/recorded/model.ts";
import { configure } from "../support/meerkat/recorded/player.ts";

const program = path.join(
	path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")),
	"dist/index.js",
);

type Payload = Readonly<Record<string, unknown>>;

const payloads = (lines: readonly ServerLine[]): Payload[] =>
	lines.flatMap((line) => {
		const event = (line.params as { event?: { payload?: Payload } } | undefined)?.event;
		return event?.payload === undefined ? [] : [event.payload];
	});
const changes = (lines: readonly ServerLine[]) =>
	payloads(lines).flatMap(({ type, payload }) => {
		if (type !== "tool_config_changed") return [];
		const { operation, target, status_info } = payload as { operation: string; target: string; status_info: Payload };
		return [`${operation} ${target} ${String(status_info["phase"])}`];
	});
const textOf = (lines: readonly ServerLine[]) => String(lines.at(-1)?.result?.["text"]);

it("a published MCP server is added to a session, used, started again and removed", { timeout: 60_000 }, async () => {
	const model = await startRecordedModel();
	onTestFinished(() => model.close());
	const stage = createStage();
	configure(stage, model);
	const server = serve(stage);
	await answer(server, "capabilities", "capabilities/get", {});
	const id = await createDeferred(server);
	const turn = (name: string, prompt: string) => ask(server, name, "turn/start", { session_id: id, prompt });
	const change = (name: string, method: string, params: object) =>
		answer(server, name, method, { session_id: id, ...params });
	// Without the processes that watch over it.
	const running = () =>
		stage.commands().filter((each) => each.startsWith(process.execPath) && each.endsWith(`${program} stdio`)).length;

	expect(textOf(await turn("t0", "TOOLS?"))).not.toContain("echo");
	const server_config = { name: "every", command: process.execPath, args: [program, "stdio"], env: { MARK: "m1" } };
	const added = await change("add", "mcp/add", { server_config });
	expect(added.result).toMatchObject({ operation: "add", server_name: "every", status: "staged", persisted: false });
	expect(running()).toBe(0);

	const first = await turn("t1", "TOOLS?");
	expect(changes(first)).toEqual(["add every pending", "add every applied"]);
	expect(textOf(first)).toContain("echo");
	const called = await turn("t2", 'CALL echo {"message":"over there"}');
	expect(changes(called)).toEqual([]);
	expect(textOf(called)).toContain("over there");
	expect(payloads(called)).toContainEqual(
		expect.objectContaining({ type: "tool_result_received", name: "echo", is_error: false }),
	);
	expect(running()).toBe(1);

	expect((await change("reload", "mcp/reload", { server_name: "every" })).result).toMatchObject({
		operation: "reload",
	});
	const again = await turn("t3", 'CALL echo {"message":"once more"}');
	expect(changes(again)).toEqual(["reload every pending", "reload every applied"]);
	expect(textOf(again)).toContain("once more");
	expect(running()).toBe(1);

	expect((await change("remove", "mcp/remove", { server_name: "every" })).result).toMatchObject({
		operation: "remove",
	});
	expect(textOf(await turn("t4", "TOOLS?"))).not.toContain("echo");
	const gone = await turn("t5", 'CALL echo {"message":"no more"}');
	expect(payloads(gone)).toContainEqual(expect.objectContaining({ type: "tool_result_received", is_error: true }));
	await expect.poll(running, { timeout: 10_000 }).toBe(0);
	expect((await change("none", "mcp/reload", { server_name: "every" })).error).toMatchObject({ code: -32602 });
	await end(server);
	expect(running()).toBe(0);
});
