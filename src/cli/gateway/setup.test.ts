import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import { createSetup } from "./setup.ts";

const key = "sk-setup-0123456789";

function createSubject(fetch: Fetch = () => Promise.reject(new Error("no network"))) {
	const files = createMemoryFiles();
	const reloads: string[] = [];
	const extended: object[] = [];
	const setup = createSetup({
		files,
		clock: createFakeClock(),
		shareDir: "/share",
		network: { fetch },
		account: { signIn: async () => {}, signOut: async () => {} },
		reload: async () => void reloads.push("reload"),
		extend: (added) => void extended.push(added),
	});
	return { setup, files, reloads, extended };
}

const answering =
	(status: number, body: unknown, asked: { url: string; headers: Headers }[] = []): Fetch =>
	async (input, init) => {
		asked.push({ url: String(input), headers: new Headers(init?.headers) });
		return new Response(JSON.stringify(body), { status });
	};

describe("offered", () => {
	it.each([
		["moonshot", "https://api.moonshot.ai/v1/models", "authorization", `Bearer ${key}`],
		["openai", "https://api.openai.com/v1/models", "authorization", `Bearer ${key}`],
		["anthropic", "https://api.anthropic.com/v1/models", "x-api-key", key],
		["gemini", "https://generativelanguage.googleapis.com/v1beta/models", "x-goog-api-key", key],
	] as const)("asks %s with its key in a header", async (provider, url, header, value) => {
		const asked: { url: string; headers: Headers }[] = [];
		const { setup } = createSubject(answering(200, { data: [{ id: "m" }] }, asked));
		expect(await setup.offered({ provider, key })).toEqual([{ id: "m", name: "m", contextSize: null }]);
		expect(asked[0]?.url).toBe(url);
		expect(asked[0]?.headers.get(header)).toBe(value);
	});

	it("shows no password of an address that it refuses", async () => {
		const { setup } = createSubject();
		const baseUrl = "https://me:pass/word@1@models.example.com/v1";
		await expect(setup.offered({ provider: "compatible", baseUrl, key })).rejects.toMatchObject({
			code: "invalid-input",
			message: expect.stringMatching(/have no password: https:\/\/\[redacted\]@models\.example\.com\/v1$/),
		});
	});

	it("reads the shapes of the providers, and skips what is no model", async () => {
		const body = {
			data: [{ id: "a", display_name: "A", max_input_tokens: 200_000 }, { id: "b", context_length: 8192 }, 1, {}],
			models: [{ name: "models/c", displayName: "C", inputTokenLimit: 9000 }],
		};
		const { setup } = createSubject(answering(200, body));
		expect(await setup.offered({ provider: "moonshot", key })).toEqual([
			{ id: "a", name: "A", contextSize: 200_000 },
			{ id: "b", name: "b", contextSize: 8192 },
			{ id: "c", name: "C", contextSize: 9000 },
		]);
	});

	it("cuts a long name, but no character of it", async () => {
		const { setup } = createSubject(answering(200, { data: [{ id: "a", display_name: `${"n".repeat(199)}😀` }] }));
		const [offered] = await setup.offered({ provider: "moonshot", key });
		expect(offered?.name).toBe("n".repeat(199));
	});

	it.each<[string, Fetch, string]>([
		["a wrong key", answering(401, {}), "rejected the key (HTTP 401)"],
		["a failure", answering(500, {}), "answered with HTTP 500"],
		["a redirect", answering(302, {}), "answered with HTTP 302"],
		["no models", answering(200, { data: [] }), "lists no models"],
		["no answer", () => Promise.reject(new Error(`lost ${key}`)), "did not answer"],
		[
			"no connection",
			() => Promise.reject(new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })),
			"did not answer (connect ECONNREFUSED)",
		],
	])("says what is wrong with %s, without the key", async (_, fetch, text) => {
		const { setup } = createSubject(fetch);
		const failed = setup.offered({ provider: "openai", key });
		await expect(failed).rejects.toMatchObject({ code: "provider-failed", message: expect.stringContaining(text) });
		await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining(key) });
	});

	it("refuses addresses that are none", async () => {
		const { setup } = createSubject();
		for (const baseUrl of ["ftp://a", "https://me:secret@a", "x"]) {
			await expect(setup.offered({ provider: "compatible", key, baseUrl })).rejects.toMatchObject({
				code: "invalid-input",
			});
		}
		await expect(setup.offered({ provider: "compatible", key })).rejects.toMatchObject({ code: "invalid-input" });
	});
});

describe("add", () => {
	it("writes the model and its key, and reads the settings again", async () => {
		const { setup, files, reloads } = createSubject();
		const entry = {
			provider: "compatible",
			key,
			baseUrl: "http://127.0.0.1:9/v1/",
			model: "m",
			contextSize: 5000,
		} as const;
		expect(await setup.add(entry)).toBe("127.0.0.1:9/m");
		const text = String(await files.read("/share/config.toml"));
		expect(text).toContain(key);
		expect(text).toContain('base_url = "http://127.0.0.1:9/v1"');
		expect(reloads).toEqual(["reload"]);
	});

	it("changes nothing of a file that it cannot edit", async () => {
		const { setup, files, reloads } = createSubject();
		await files.makeDirectory("/share");
		await files.replace("/share/config.toml", "a =");
		const failed = setup.add({ provider: "openai", key, model: "m", contextSize: 5000 });
		await expect(failed).rejects.toMatchObject({ code: "invalid-input" });
		expect(String(await files.read("/share/config.toml"))).toBe("a =");
		expect(reloads).toEqual([]);
	});
});

describe("createDemo", () => {
	it("makes a project and a scripted model for each demo, in no settings file", async () => {
		const { setup, files, extended } = createSubject();
		const [one, other] = [await setup.createDemo(), await setup.createDemo()];
		expect(one.workDir).not.toBe(other.workDir);
		expect(await files.read(`${one.workDir}/basket.js`)).not.toBeNull();
		expect(extended).toHaveLength(2);
		expect(await files.read("/share/config.toml")).toBeNull();
	});
});
