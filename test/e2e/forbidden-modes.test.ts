// A mode that settings forbid, over every front end and by every way to switch it on: a person is asked all the same.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { connectAcp } from "../support/executable/acp-client.ts";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse, type Server } from "../support/executable/running-server.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";

/** What is left to choose. */
const permitted = ["default", "plan", "auto"];
const forbidden = /forbidden by .*config\.toml/;
const write = toolCall("c", "WriteFile", { path: "made", content: "x" });

function createForbidding(settings = "", mode = "yolo"): Stage {
	const stage = createStage({ scripts: [write, "text: done"] });
	const file = path.join(stage.shareDir, "config.toml");
	const text = readFileSync(file, "utf8");
	writeFileSync(file, `${settings}\n${text}\n[permission]\nforbid_modes = ["${mode}"]\n`);
	return stage;
}

/** Sends prompts one after the other, and rejects what is asked; how often that was. */
async function promptAll(server: Server, method: string, texts: readonly string[]): Promise<number> {
	let asked = 0;
	for (const [index, text] of texts.entries()) {
		server.request(`p${index}`, method, { user_input: text });
		await server.readUntil((line) => {
			if (line.method === "request" && typeof line.id === "string") {
				asked += 1;
				server.answer(line.id, { request_id: line.id, response: "reject" });
			}
			return isResponse(line, `p${index}`);
		});
	}
	server.endInput();
	await server.exited;
	return asked;
}

async function startGateway(stage: Stage, ...flags: readonly string[]) {
	const server = stage.serve("serve", "--json", "--port", "0", ...flags);
	const [line] = await server.readUntil(() => true);
	const port = Number(new URL((line as unknown as { url: string }).url).port);
	return {
		server,
		client: new GatewayClient(port, readTokens(path.join(stage.shareDir, "gateway.json")).control ?? ""),
	};
}

const expectNothingMade = (stage: Stage) => expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);

describe("yolo that settings forbid", () => {
	it.each<[string, string, readonly string[], readonly string[]]>([
		["a flag", "", ["--yolo"], ["go"]],
		["a setting", "default_yolo = true", [], ["go"]],
		["the slash command", "", [], ["/yolo", "go"]],
	])("is not switched on by %s over Kimi Wire", async (_name, settings, flags, texts) => {
		const stage = createForbidding(settings);
		const server = stage.serve("--wire", ...flags);
		server.initialize();
		await server.readUntil((line) => line.id !== undefined);
		expect(await promptAll(server, "prompt", texts)).toBe(1);
		expectNothingMade(stage);
	});

	it("is not switched on by the state of an earlier session", async () => {
		const stage = createForbidding();
		stage.setScripts(["text: begun"]);
		const first = stage.serve("--wire");
		expect(await promptAll(first, "prompt", ["begin"])).toBe(0);
		const [id = ""] = stage.sessionIds();
		const file = path.join(stage.sessionDir(id), "state.json");
		const state = JSON.parse(readFileSync(file, "utf8"));
		writeFileSync(file, JSON.stringify({ ...state, approval: { ...state.approval, yolo: true } }));
		stage.setScripts([write, "text: done"]);
		const server = stage.serve("--wire", "--session", id);
		expect(await promptAll(server, "prompt", ["go"])).toBe(1);
		expectNothingMade(stage);
	});

	it("is not switched on over Meerkat RPC", async () => {
		const stage = createForbidding();
		const server = stage.serve("rpc", "--yolo");
		server.request("i", "initialize", { requests: ["approval/request"] });
		await server.readUntil((line) => isResponse(line, "i"));
		server.request("c", "session/create", { prompt: "go", enable_builtins: true, enable_shell: true });
		let asked = 0;
		await server.readUntil((line) => {
			if (line.method !== undefined && typeof line.id === "string") {
				asked += 1;
				server.answer(line.id, { decision: "reject" });
			}
			return isResponse(line, "c");
		});
		server.endInput();
		await server.exited;
		expect(asked).toBe(1);
		expectNothingMade(stage);
	});

	it.each([["acp"], ["acp", "--yolo"]])("is refused over the Agent Client Protocol: %s %s", async (...flags) => {
		const stage = createForbidding();
		const decide = () => ({ outcome: "selected", optionId: "reject" }) as const;
		const client = connectAcp(stage, { decide, flags });
		await client.initialize();
		const sessionId = await client.open();
		const { configOptions, modes } = await client.agent.request("session/new", { cwd: stage.workDir, mcpServers: [] });
		const modeOption = configOptions?.find(({ id }) => id === "mode");
		const listed = modeOption?.type === "select" ? modeOption.options.map((each) => "value" in each && each.value) : [];
		expect([modes?.availableModes.map(({ id }) => id), listed]).toEqual([permitted, permitted]);
		const set = (method: string, params: object) => client.agent.request(method, { sessionId, ...params });
		await expect(set("session/set_mode", { modeId: "yolo" })).rejects.toThrow(forbidden);
		await expect(set("session/set_config_option", { configId: "mode", value: "yolo" })).rejects.toThrow(forbidden);
		await client.prompt(sessionId, "/yolo");
		await client.prompt(sessionId, "go");
		expect(client.permissions).toHaveLength(1);
		expectNothingMade(stage);
		client.endInput();
		await client.exited;
	});

	it("is refused by the gateway, also for a new session", async () => {
		const stage = createForbidding();
		const { server, client } = await startGateway(stage, "--yolo");
		expect(JSON.stringify(await client.call("sessions.create", { mode: "yolo" }))).toMatch(forbidden);
		const sessionId = await client.createSession();
		expect((await client.result("session.description", { sessionId }))["modes"]).toEqual(permitted);
		expect(JSON.stringify(await client.call("mode.set", { sessionId, mode: "yolo" }))).toMatch(forbidden);
		const stream = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "/yolo" });
		await stream.until(isEvent("turn.ended"));
		await client.result("turn.start", { sessionId, input: "go" });
		await stream.until(isEvent("interaction.requested"));
		expectNothingMade(stage);
		server.kill("SIGTERM");
		await server.exited;
	});
});

describe("auto that settings forbid", () => {
	it("is not listed over the Agent Client Protocol, but while a flag has switched it on", async () => {
		const stage = createForbidding("", "auto");
		const client = connectAcp(stage, { flags: ["acp", "--afk"] });
		await client.initialize();
		const { sessionId, modes } = await client.agent.request("session/new", { cwd: stage.workDir, mcpServers: [] });
		const idsOf = (listed: readonly { readonly id: string }[] = []) => listed.map(({ id }) => id);
		expect([modes?.currentModeId, idsOf(modes?.availableModes)]).toEqual(["auto", ["default", "plan", "auto", "yolo"]]);
		await client.agent.request("session/set_mode", { sessionId, modeId: "default" });
		const loaded = await client.agent.request("session/resume", { sessionId, cwd: stage.workDir, mcpServers: [] });
		expect(idsOf(loaded.modes?.availableModes)).toEqual(["default", "plan", "yolo"]);
		client.endInput();
		await client.exited;
	});

	it.each([
		["auto", false],
		["yolo", true],
	])("also forbids to approve what nobody can be asked about; with %s forbidden: %j", async (mode, isMade) => {
		const stage = createForbidding("", mode);
		appendFileSync(path.join(stage.shareDir, "config.toml"), '[agentwire]\nunattended = "approve"\n');
		const { server, client } = await startGateway(stage);
		const sessionId = await client.createSession();
		const file = path.join(stage.sessionDir(sessionId), "journal.jsonl");
		await client.result("turn.start", { sessionId, input: "go" });
		await expect.poll(() => readFileSync(file, "utf8"), { timeout: 20_000 }).toContain("turn.ended");
		server.kill("SIGTERM");
		await server.exited;
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(isMade);
	});
});
