// The model of a provider, asked against a provider on loopback that every test has for itself.
import { afterEach, beforeEach } from "vitest";
import { isRecord } from "../../../src/base/json.ts";
import type { Model, ModelChunk, ModelRequest } from "../../../src/core/models/model.ts";
import type { ModelSettings } from "../../../src/core/models/model-settings.ts";
import { createModel } from "../../../src/core/models/registry.ts";
import { collectChunks, plainRequest } from "./model-conversation.ts";
import { plainModelSettings } from "./model-settings.ts";
import { type AnswerRequest, type ProviderServer, startProviderServer } from "./provider-server.ts";

export interface ModelSubject {
	/** The provider of the running test. */
	readonly server: ProviderServer;
	create(changes?: Partial<ModelSettings>): Promise<Model>;
	/** What the model makes of this answer to its next request. */
	ask(answer: AnswerRequest, changes?: Partial<ModelSettings>, request?: ModelRequest): Promise<ModelChunk[]>;
	/** A field of the body that was sent last. */
	sent(name: string): unknown;
}

/** For the tests of the file or of the `describe` it is called in; the base URL is `path` below the provider's root. */
export function createModelSubject(settings: Partial<ModelSettings>, path = ""): ModelSubject {
	let server: ProviderServer;
	beforeEach(async () => {
		server = await startProviderServer();
	});
	afterEach(() => server.close());

	const create = (changes: Partial<ModelSettings> = {}) =>
		createModel({ ...plainModelSettings, ...settings, baseUrl: server.url + path, ...changes });
	return {
		get server() {
			return server;
		},
		create,
		async ask(answer, changes, request = plainRequest) {
			server.answerNext(answer);
			const model = await create(changes);
			return await collectChunks(model.stream(request, new AbortController().signal));
		},
		sent(name) {
			const body = server.requests.at(-1)?.body;
			return isRecord(body) ? body[name] : undefined;
		},
	};
}
