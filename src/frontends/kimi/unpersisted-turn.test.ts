// A turn whose beginning could not be persisted is reported by its error alone: no TurnEnd without a TurnBegin.
import { expect, it } from "vitest";
import { createCampaignServer } from "../../../test/support/sessions/campaign-server.ts";

it("answers the prompt of a turn that could not be started, and emits no event of it", async () => {
	const server = await createCampaignServer({ failsWrite: (n) => n === 1 });
	server.client.write('{"id":"p","method":"prompt","params":{"user_input":"hi"}}\n');
	expect(JSON.parse((await server.client.read()) ?? "")).toEqual({
		jsonrpc: "2.0",
		id: "p",
		error: { code: -32603, message: "The disk is full.", data: null },
	});
	const persisted: string[] = [];
	for await (const batch of server.session.events()) persisted.push(...batch.map(({ body }) => body.type));
	expect(persisted).toEqual([]);
	await server.close();
});
