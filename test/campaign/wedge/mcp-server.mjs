// An MCP server over stdin and stdout that says what a file of JSON tells it to:
//   begin   printed before anything else
//   list    the result of tools/list, as text
//   call    printed for each call; @ID@ stands for its id
//   noise   printed to stderr with each call
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const {
	begin = "",
	list,
	call = '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[]}}',
	noise = "",
} = JSON.parse(readFileSync(process.argv[2], "utf8"));
process.stdout.write(begin);

for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (method === "initialize") {
		const { protocolVersion } = params;
		const capabilities = { tools: { listChanged: true } };
		const result = { protocolVersion, capabilities, serverInfo: { name: "hostile", version: "1" } };
		process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
	} else if (method === "tools/list") {
		process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${list}}\n`);
	} else if (method === "tools/call") {
		process.stderr.write(noise);
		process.stdout.write(`${call.replaceAll("@ID@", JSON.stringify(id))}\n`);
	} else if (id !== undefined && method !== undefined) {
		process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } })}\n`);
	}
}
