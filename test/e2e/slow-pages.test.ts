// Pages that take long to read keep the built executable from nothing else.
import { expect, it, onTestFinished } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { isResponse, type ServerLine } from "../support/executable/running-server.ts";
import { startOrigin } from "../support/host/web-servers.ts";

it.each([
	["lists in lists", `${"<ul><li>".repeat(29)}${"<p>x".repeat(240_000)}`],
	["a million open tags", "<sup>1</sup>".repeat(80_000)],
])("does everything else while a page is slow: %s", { timeout: 60_000 }, async (_name, html) => {
	const page = await startOrigin((_request, response) =>
		response.writeHead(200, { "content-type": "text/html" }).end(html),
	);
	onTestFinished(() => page.close());
	const url = `http://127.0.0.1:${page.port}/`;
	const stage = createStage({ scripts: [toolCall("c1", "FetchURL", { url }), "text: done"] });
	const agentwire = { fetch_allow: ["127.0.0.1"] };
	const server = stage.serve("--config", JSON.stringify({ ...JSON.parse(stage.configText), agentwire }), "--wire");
	server.prompt("hello");
	await server.message("ToolCall");
	let longest = 0;
	let result: ServerLine | undefined;
	while (result === undefined) {
		const since = performance.now();
		server.request("ping", "no_such_method");
		const lines = await server.readUntil((line) => isResponse(line, "ping"));
		longest = Math.max(longest, performance.now() - since);
		result = lines.find(({ params }) => params?.type === "ToolResult");
	}
	expect(JSON.stringify(result.params?.payload["return_value"])).toMatch(
		/The page could not be read: it takes|This is the main text of the page/,
	);
	// Far more than a free machine takes, far less than the page.
	expect(longest).toBeLessThan(2000);
});
