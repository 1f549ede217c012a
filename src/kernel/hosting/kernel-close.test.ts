// Closing a kernel of which a part could not be loaded.
import { expect, it, vi } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createHostServices } from "../../../test/support/host/host-services.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { silentLog } from "../../base/log.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { parseMcpServers } from "../../settings/config/mcp-servers.ts";
import { plainSessionOptions } from "../compose/session-options.ts";
import { Kernel } from "./kernel.ts";

vi.mock("../../core/mcp/server-pool.ts", () => {
	throw new Error("too many open files");
});

it("ends its children even if no MCP server could be loaded", async () => {
	const files = createMemoryFiles();
	await files.makeDirectory("/work");
	const { configuration } = await readConfiguration({ kind: "text", text: "{}" }, files, silentLog);
	const endAll = vi.fn(async () => {});
	const clock = createFakeClock();
	const kernel = new Kernel({
		store: createMemoryStore(),
		configuration,
		hostServices: createHostServices({
			files,
			clock,
			processes: { run: () => Promise.reject(new Error("no children here")), endAll },
		}),
	});
	const mcpServers = parseMcpServers('{"mcpServers": {"s": {"command": "s"}}}', "test");
	const session = await kernel.create("/work", { ...plainSessionOptions, mcpServers });
	session.attachPlain({ client: null, tools: [], capabilities: [], hooks: null });
	clock.advance(1000);
	await vi.dynamicImportSettled();
	await kernel.close();
	expect(endAll).toHaveBeenCalledOnce();
});
