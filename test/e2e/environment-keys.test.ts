// A machine on which nothing is configured, and a key in the environment: the built executable against each vendor's
// interface on loopback.
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";
import { startProvider } from "../support/models/provider-stage.ts";

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const answers = {
	ANTHROPIC: [
		event("message_start", {
			type: "message_start",
			message: { id: "m", usage: { input_tokens: 1, output_tokens: 1 } },
		}),
		event("content_block_start", { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
		event("content_block_delta", {
			type: "content_block_delta",
			index: 0,
			delta: { type: "text_delta", text: "Hello from the vendor." },
		}),
		event("content_block_stop", { type: "content_block_stop", index: 0 }),
		event("message_delta", { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
		event("message_stop", { type: "message_stop" }),
	].join(""),
	OPENAI: [
		event("response.created", { type: "response.created", response: { id: "r" } }),
		event("response.output_item.added", {
			type: "response.output_item.added",
			output_index: 0,
			item: { type: "message", id: "i", role: "assistant", content: [] },
		}),
		event("response.output_text.delta", {
			type: "response.output_text.delta",
			output_index: 0,
			delta: "Hello from the vendor.",
		}),
		event("response.completed", {
			type: "response.completed",
			response: { id: "r", status: "completed", usage: { input_tokens: 1, output_tokens: 2 } },
		}),
	].join(""),
	GEMINI: `data: ${JSON.stringify({
		candidates: [{ content: { role: "model", parts: [{ text: "Hello from the vendor." }] }, finishReason: "STOP" }],
		usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
	})}\n\n`,
};

const vendors = [
	["ANTHROPIC", "ANTHROPIC_BASE_URL", "x-api-key"],
	["OPENAI", "OPENAI_BASE_URL", "authorization"],
	["GEMINI", "GOOGLE_GEMINI_BASE_URL", "x-goog-api-key"],
] as const;

async function createBareStage([name, address]: Readonly<[keyof typeof answers, string, string]>) {
	const provider = await startProvider(() => async (response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(answers[name]);
	});
	const stage = createStage();
	rmSync(path.join(stage.shareDir, "config.toml"));
	const variables = { [`${name}_API_KEY`]: "sk-in-environment", [address]: provider.url };
	return { stage, provider, variables };
}

describe.each(vendors)("with a key of %s alone", (...vendor) => {
	const [name, , header] = vendor;

	it("print mode answers, and info names the variable", async () => {
		const { stage, provider, variables } = await createBareStage(vendor);
		const run = (...argv: readonly string[]) =>
			runExecutable(executablePath, argv, { cwd: stage.workDir, env: { ...stage.environment, ...variables } });
		const printed = await run("--print", "-p", "Hi", "--final-message-only");
		expect(printed).toMatchObject({ code: 0, stdout: "Hello from the vendor.\n" });
		expect(String(provider.requests[0]?.headers[header])).toContain("sk-in-environment");
		const info = JSON.parse((await run("info", "--json")).stdout);
		expect(info.model_source).toMatchObject({ variable: `${name}_API_KEY` });
		// The file that the first start writes has neither the key nor the model.
		expect(readFileSync(path.join(stage.shareDir, "config.toml"), "utf8")).not.toMatch(/sk-in|claude|gpt|gemini/);
	});
});
