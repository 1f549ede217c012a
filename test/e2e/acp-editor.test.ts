// What an editor provides to the built executable: its files, and a browser to sign in with.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createDeferred } from "../../src/base/deferred.ts";
import { connectAcp } from "../support/executable/acp-client.ts";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import type { Server, ServerLine } from "../support/executable/running-server.ts";
import { startPlatformServer } from "../support/host/platform-server.ts";

type Answers = Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => unknown>>;

async function connect(stage: Stage, server: Server, clientCapabilities: object): Promise<ServerLine> {
	server.request("init", "initialize", { protocolVersion: 1, clientCapabilities });
	const answer = await server.response("init");
	server.request("new", "session/new", { cwd: stage.workDir, mcpServers: [] });
	return answer;
}

/** Makes a request, and answers those that come until it is answered; all the lines. */
async function requestWith(server: Server, id: string, method: string, params: object, answers: Answers) {
	server.request(id, method, params);
	const lines: ServerLine[] = [];
	while (lines.at(-1)?.id !== id) {
		const line = await server.read();
		if (line === null) throw new Error("the server is gone");
		lines.push(line);
		const answer = answers[String(line.method)];
		if (answer !== undefined) server.answer(String(line.id), answer(Object(line.params)));
	}
	return { lines, answer: lines.at(-1) };
}

const approve = () => ({ outcome: { outcome: "selected", optionId: "approve" } });

it("a file is changed as the editor has it, and by the editor", async () => {
	const edit = toolCall("c1", "StrReplaceFile", { path: "a.txt", edit: { old: "unsaved", new: "changed" } });
	const stage = createStage({ scripts: [edit, "text: done"] });
	const file = path.join(stage.workDir, "a.txt");
	writeFileSync(file, "saved\n");
	const server = stage.serve("acp");
	await connect(stage, server, { fs: { readTextFile: true, writeTextFile: true } });
	const { sessionId } = Object((await server.response("new")).result);
	const written: unknown[] = [];
	const { lines, answer } = await requestWith(
		server,
		"p",
		"session/prompt",
		{ sessionId, prompt: [{ type: "text", text: "go" }] },
		{
			"session/request_permission": approve,
			"fs/read_text_file": () => ({ content: "saved\nunsaved\n" }),
			"fs/write_text_file": (params) => written.push(params) && {},
		},
	);
	expect(answer).toMatchObject({ result: { stopReason: "end_turn" } });
	expect(written).toEqual([{ sessionId, path: file, content: "saved\nchanged\n" }]);
	expect(readFileSync(file, "utf8")).toBe("saved\n");
	const asked = lines.find(({ method }) => String(method) === "session/request_permission");
	expect(JSON.stringify(asked)).toContain('"oldText":"saved\\nunsaved","newText":"saved\\nchanged"');
});

it("a sign-in serves the sessions that are opened afterwards, until somebody signs out", async () => {
	const platform = await startPlatformServer();
	onTestFinished(() => platform.close());
	// The editor has answered by then that the address was shown.
	platform.beforeGrant.push(...Array.from({ length: 50 }, () => "authorization_pending"));
	const stage = createStage();
	const configFile = path.join(stage.shareDir, "config.toml");
	writeFileSync(configFile, "# mine\n");
	const variables = { KIMI_CODE_OAUTH_HOST: platform.url, KIMI_CODE_BASE_URL: `${platform.url}/v1` };
	const server = stage.serveWith(variables, "acp");
	const answer = await connect(stage, server, { elicitation: { url: {} } });
	expect(answer).toMatchObject({ result: { agentCapabilities: { auth: { logout: {} } } } });
	expect(await server.response("new")).toMatchObject({ error: { code: -32000 } });

	const shown: unknown[] = [];
	const ids: unknown[] = [];
	const signIn = await requestWith(
		server,
		"a",
		"authenticate",
		{ methodId: "login" },
		{
			"elicitation/create": (params) => {
				shown.push(params["url"]);
				ids.push(params["elicitationId"]);
				return { action: "accept" };
			},
		},
	);
	expect(signIn.answer).toMatchObject({ result: {} });
	expect(shown).toEqual([`${platform.url}/device?code=ABCD-1234`]);
	// The editor learns that it need not show the address any more, before its request is answered.
	const completed = signIn.lines.filter(({ method }) => String(method) === "elicitation/complete");
	expect(completed.map(({ params }) => params)).toEqual(ids.map((elicitationId) => ({ elicitationId })));

	server.request("again", "session/new", { cwd: stage.workDir, mcpServers: [] });
	const { sessionId } = Object((await server.response("again")).result);
	const prompt = { sessionId, prompt: [{ type: "text", text: "go" }] };
	const { lines } = await requestWith(server, "p", "session/prompt", prompt, {});
	expect(JSON.stringify(lines)).toContain("Here I am.");

	server.request("out", "logout", {});
	expect(await server.response("out")).toMatchObject({ result: {} });
	expect(existsSync(path.join(stage.shareDir, "credentials", "kimi-code.json"))).toBe(false);
	expect(readFileSync(configFile, "utf8")).toContain("# mine\n");
	server.request("last", "session/new", { cwd: stage.workDir, mcpServers: [] });
	expect(await server.response("last")).toMatchObject({ error: { code: -32000 } });
});

it("the official client shows the sign-in page, signs in and out", async () => {
	const platform = await startPlatformServer();
	onTestFinished(() => platform.close());
	platform.beforeGrant.push(...Array.from({ length: 50 }, () => "authorization_pending"));
	const plain = createStage();
	writeFileSync(path.join(plain.shareDir, "config.toml"), "# mine\n");
	const variables = { KIMI_CODE_OAUTH_HOST: platform.url, KIMI_CODE_BASE_URL: `${platform.url}/v1` };
	const stage = { ...plain, environment: { ...plain.environment, ...variables } };
	const shown: unknown[] = [];
	const completed = createDeferred<string>();
	const client = connectAcp(stage, {
		capabilities: { elicitation: { url: {} } },
		fill(asked) {
			shown.push(asked);
			return { action: "accept" };
		},
		complete: completed.resolve,
	});
	const { authMethods } = await client.initialize();
	await client.agent.request("authenticate", { methodId: authMethods?.[0]?.id ?? "" });
	const elicitationId = await completed.promise;
	expect(shown).toMatchObject([{ mode: "url", url: `${platform.url}/device?code=ABCD-1234`, elicitationId }]);
	const sessionId = await client.open();
	expect(await client.prompt(sessionId, "go")).toBe("end_turn");
	await client.agent.request("logout", {});
	await expect(client.open()).rejects.toMatchObject({ code: -32_000 });
	client.endInput();
	expect(await client.exited).toBe(0);
});

it("the official client provides its files", async () => {
	const edit = toolCall("c1", "StrReplaceFile", { path: "a.txt", edit: { old: "unsaved", new: "changed" } });
	const stage = createStage({ scripts: [edit, "text: done"] });
	const file = path.join(stage.workDir, "a.txt");
	writeFileSync(file, "saved\n");
	const written: unknown[] = [];
	const client = connectAcp(stage, {
		capabilities: { fs: { readTextFile: true, writeTextFile: true } },
		read: () => ({ content: "unsaved\n" }),
		write(asked) {
			written.push(asked);
			return {};
		},
	});
	await client.initialize();
	const sessionId = await client.open();
	expect(await client.prompt(sessionId, "go")).toBe("end_turn");
	expect(written).toEqual([{ sessionId, path: file, content: "changed\n" }]);
	expect(readFileSync(file, "utf8")).toBe("saved\n");
	client.endInput();
	await client.exited;
});

it("no sign-in is offered for settings that it would not change", async () => {
	const stage = createStage();
	const answer = await connect(stage, stage.serve("acp", "--config", stage.configText), {});
	expect(answer).toMatchObject({ result: { agentCapabilities: { auth: {} } } });
	expect(JSON.stringify(answer.result)).not.toContain("logout");
});
