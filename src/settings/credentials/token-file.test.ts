import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { readTokens, type Tokens, tokenFile, tokenFileOf, writeTokens } from "./token-file.ts";

const tokens: Tokens = {
	accessToken: "access-token-1",
	refreshToken: "refresh-token-1",
	expiresAt: 1_700_003_600.5,
	expiresIn: 3600,
	scope: "all",
	tokenType: "Bearer",
};

describe("tokenFileOf", () => {
	it.each([
		["oauth/kimi-code", "/share/credentials/kimi-code.json"],
		["kimi-code", "/share/credentials/kimi-code.json"],
		["oauth/../../x", null],
		["..", null],
		[".hidden", null],
		["oauth/", null],
		["", null],
		["a/b", null],
		["a\0", null],
		["x".repeat(101), null],
	])("of %j is %j", (key, file) => expect(tokenFileOf("/share", key)).toBe(file));
});

describe("the token file", () => {
	it("has the keys of kimi, and is accessible to the owner only from its first byte on", async () => {
		const directory = await mkdtemp(path.join(tmpdir(), "agentwire-tokens-"));
		onTestFinished(() => rm(directory, { recursive: true, force: true }));
		const file = path.join(directory, "kimi-code.json");
		await writeFile(file, "{}", { mode: 0o644 });
		await writeTokens(createDiskFiles(), file, tokens);
		expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
			access_token: "access-token-1",
			refresh_token: "refresh-token-1",
			expires_at: 1_700_003_600.5,
			scope: "all",
			token_type: "Bearer",
			expires_in: 3600,
		});
		expect((await stat(file)).mode & 0o777).toBe(0o600);
		expect(await readdir(directory)).toEqual(["kimi-code.json"]);
		expect(await readTokens(createDiskFiles(), file)).toEqual({ kind: "tokens", tokens });
	});

	const read = async (content: string) => {
		const files = createMemoryFiles();
		const file = tokenFile("/share", "kimi-code");
		await files.makeDirectory(path.dirname(file));
		await files.replace(file, content);
		return await readTokens(files, file);
	};

	it("is read as far as possible", async () => {
		expect(await read('{"access_token":"a","refresh_token":null,"expires_at":"soon","later":1}')).toEqual({
			kind: "tokens",
			tokens: { accessToken: "a", refreshToken: "", expiresAt: 0, expiresIn: 0, scope: "", tokenType: "" },
		});
	});

	it.each([
		["invalid JSON", "secret", "it is not JSON"],
		["no tokens", "{}", "it has no usable access_token"],
		["another value than an object", "[]", "it has no usable access_token"],
		["an empty token", '{"access_token":""}', "it has no usable access_token"],
		[
			"a token of another type than Bearer",
			'{"access_token":"a","token_type":"mac"}',
			'the token is of the type "mac", and only Bearer tokens can be used',
		],
		["a token with a line end", '{"access_token":"secret\\n"}', "it has no usable access_token"],
	])("is damaged with %s", async (_, content, reason) => {
		expect(await read(content)).toEqual({ kind: "damaged", reason });
	});

	it("may be absent, or no file", async () => {
		const files = createMemoryFiles();
		expect(await readTokens(files, "/share/credentials/a.json")).toEqual({ kind: "absent" });
		await files.makeDirectory("/share/credentials/a.json");
		expect(await readTokens(files, "/share/credentials/a.json")).toMatchObject({ kind: "damaged" });
	});
});
