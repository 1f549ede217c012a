// The client library with the built executable: over stdio as it starts it, and over HTTP.
import { describe, expect, it } from "vitest";
import { connect, PeerGone } from "../../src/client/client.ts";
import { describeClient } from "../contracts/client-contract.ts";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";
import { readTokens } from "../support/gateway/token-file.ts";

const modelSettings = { capabilities: ["image_in"] };

function start(stage: Stage, flags: readonly string[] = []) {
	return connect({ command: [executablePath, ...flags], env: stage.environment, cwd: stage.workDir });
}

describe("over stdio", () => {
	describeClient({
		async connect(scripts) {
			const stage = createStage({ scripts, modelSettings });
			return { kernel: await start(stage), workDir: stage.workDir };
		},
	});

	it("says how the process ended, with the end of its stderr, to everybody who waits", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "Shell", { command: "touch hi" })] });
		const pidFile = ["/bin/sh", "-c", 'echo "$$ is here" >&2; exec "$@"', "sh"];
		let stderr = "";
		const kernel = await connect({
			command: [...pidFile, executablePath],
			env: stage.environment,
			cwd: stage.workDir,
			onStderr: (text) => {
				stderr += text;
			},
		});
		const session = await kernel.open();
		const turn = session.prompt("Go");
		for await (const event of turn) if (event.type === "approval") break;
		const waiting = [turn.then((result) => result), session.events().next()];
		process.kill(Number.parseInt(stderr, 10), "SIGKILL");
		for (const each of waiting) {
			const gone: unknown = await each.catch((thrown: unknown) => thrown);
			expect(gone).toBeInstanceOf(PeerGone);
			expect(gone).toMatchObject({
				exitCode: null,
				message: expect.stringContaining("SIGKILL"),
				stderr: expect.stringContaining("is here"),
			});
		}
		await expect(kernel.info()).rejects.toBeInstanceOf(PeerGone);
		await kernel.close();
	});

	it("says why it does not start", async () => {
		const stage = createStage();
		await expect(start(stage, ["--config", "{"])).rejects.toMatchObject({
			name: "PeerGone",
			exitCode: 2,
			stderr: expect.stringContaining("--config"),
		});
		await expect(connect({ command: "/nowhere/agentwire" })).rejects.toThrow("could not be started");
	});
});

it("connects to `agentwire serve`", async () => {
	const stage = createStage({ scripts: ["text: Hello"] });
	const server = stage.serve("serve", "--json", "--port", "0");
	const [line] = await server.readUntil(() => true);
	const { url } = Object(line);
	const token = readTokens(`${stage.shareDir}/gateway.json`).control ?? "";
	await using kernel = await connect({ url, token });
	const session = await kernel.open({ workDir: stage.workDir });
	expect(await session.prompt("Hi")).toMatchObject({ outcome: "finished", text: "Hello" });
	await expect(connect({ url, token: "wrong" })).rejects.toMatchObject({ name: "Refused" });
});
