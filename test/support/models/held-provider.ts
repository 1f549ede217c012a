// A stage whose model a test plays itself: what it says comes when the test says it, over HTTP on loopback.
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { onTestFinished } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { createStage, type Stage, type StageOptions } from "../executable/executable.ts";
import { startProviderServer } from "./provider-server.ts";

/** One request to the model and what the test makes of it. */
export interface HeldAnswer {
	/** The messages that the model was given. */
	readonly messages: readonly { readonly role: string; readonly content: unknown }[];
	/** Sends a piece of text; resolves when the connection takes more. */
	say(text: string): Promise<void>;
	end(): void;
	/** Resolves when the connection is gone, whoever ended it. */
	readonly closed: Promise<void>;
}

export interface HeldStage {
	readonly stage: Stage;
	/** The next request to the model that was not given yet. */
	nextRequest(): Promise<HeldAnswer>;
}

const chunk = (delta: object, finish_reason: string | null) =>
	`data: ${JSON.stringify({
		id: "c",
		object: "chat.completion.chunk",
		created: 1,
		model: "m",
		choices: [{ index: 0, delta, finish_reason }],
	})}\n\n`;

/** With `options` it is a stage with a scripted model that has this one as well, by the name `held`. */
export async function createHeldStage(options: StageOptions | null = null): Promise<HeldStage> {
	const arrived: ServerResponse[] = [];
	let given = 0;
	let arrival = createDeferred<void>();
	const provider = await startProviderServer(() => async (response) => {
		response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
		response.flushHeaders();
		arrived.push(response);
		arrival.resolve();
		arrival = createDeferred<void>();
	});
	onTestFinished(() => provider.close());
	const stage = createStage(options ?? {});
	const settings = path.join(stage.shareDir, "config.toml");
	const name = options === null ? "m" : "held";
	const tables = [
		`[models.${name}]\nprovider = "h"\nmodel = "some-model"\nmax_context_size = ${options === null ? 100_000 : 10_000_000}`,
		`[providers.h]\ntype = "openai_legacy"\nbase_url = "${provider.url}/v1"\napi_key = "sk-test-0123456789abcdef"`,
	];
	if (options === null) writeFileSync(settings, ['default_model = "m"', ...tables].join("\n\n"));
	else appendFileSync(settings, `\n${tables.join("\n\n")}\n`);
	return {
		stage,
		async nextRequest() {
			const index = given;
			given += 1;
			while (arrived[index] === undefined) await arrival.promise;
			const response = arrived[index];
			const request = provider.requests[index];
			if (request === undefined) throw new Error("There is no such request.");
			return {
				messages: messagesOf(request.body),
				closed: request.closed,
				async say(text) {
					if (!response.write(chunk({ content: text }, null)) && !response.destroyed) {
						await Promise.race([once(response, "drain"), request.closed]);
					}
				},
				end() {
					response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
				},
			};
		},
	};
}

function messagesOf(body: unknown): HeldAnswer["messages"] {
	return typeof body === "object" && body !== null && "messages" in body && Array.isArray(body.messages)
		? body.messages
		: [];
}
