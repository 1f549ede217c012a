// Values nested too deep to be written again cost one tool call, never the turn (wire-protocol §5.2).
import { describe, expect, it } from "vitest";
import { createCampaignServer } from "../../../test/support/sessions/campaign-server.ts";

const depth = 20_000;
const deepObject = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const deepArray = "[".repeat(depth) + "]".repeat(depth);

interface Received {
	readonly id?: string;
	readonly method?: string;
	readonly result?: unknown;
	readonly error?: unknown;
	readonly params?: { readonly type: string; readonly payload: Record<string, unknown> };
}

async function startTurn(call: { readonly name: string; readonly arguments: string }) {
	const server = await createCampaignServer();
	const read = async (): Promise<Received> => JSON.parse((await server.client.read()) ?? "{}");
	const readUntil = async (isLast: (message: Received) => boolean): Promise<Received> => {
		for (let message = await read(); ; message = await read()) if (isLast(message)) return message;
	};
	const tool = { name: "ClientTool", description: "", parameters: {} };
	const write = (text: string) => server.client.write(`${text}\n`);
	write(
		`{"id":"i","method":"initialize","params":{"protocol_version":"1.7","external_tools":[${JSON.stringify(tool)}]}}`,
	);
	write('{"id":"p","method":"prompt","params":{"user_input":"hi"}}');
	server.gate.push([
		{ kind: "call", id: "call-1", ...call },
		{ kind: "done", counted: false },
		{ kind: "say", text: "Well." },
		{ kind: "done", counted: false },
	]);
	return { server, readUntil, write };
}

const isToolResult = ({ params }: Received): boolean => params?.type === "ToolResult";
const isResponse = ({ id, method }: Received): boolean => id === "p" && method === undefined;

describe("values nested too deep", () => {
	it("are a malformed answer in the result of a client's tool", async () => {
		const { server, readUntil, write } = await startTurn({ name: "ClientTool", arguments: "{}" });
		await readUntil(({ method }) => method === "request");
		write(
			`{"id":"call-1","result":{"tool_call_id":"call-1","return_value":{"is_error":false,"output":"","message":"","display":[],"extras":${deepObject}}}}`,
		);
		const { params } = await readUntil(isToolResult);
		expect(params?.payload["return_value"]).toMatchObject({
			is_error: true,
			message: "Invalid tool result payload from client.",
		});
		expect(await readUntil(isResponse)).toMatchObject({ result: { status: "finished" } });
		await server.close();
	});

	it("are a failed call in the arguments of a model's call", async () => {
		const { server, readUntil } = await startTurn({ name: "Look", arguments: deepArray });
		const { params } = await readUntil(isToolResult);
		expect(params?.payload["return_value"]).toMatchObject({ is_error: true });
		expect(await readUntil(isResponse)).toMatchObject({ result: { status: "finished" } });
		await server.close();
	});
});
