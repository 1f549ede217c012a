import { execFileSync } from "node:child_process";
import {
	chmodSync,
	chownSync,
	lstatSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createDeferred } from "../../../base/deferred.ts";
import { randomIdentifiers } from "../../../base/ids.ts";
import { createDiskFiles } from "../../../ports/files/disk-files.ts";
import { privateBelow } from "../../../ports/files/private-paths.ts";
import { createTokens } from "./tokens.ts";

const user = process.getuid?.() ?? null;

function createPlace() {
	const directory = mkdtempSync(path.join(tmpdir(), "agentwire-tokens-"));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	const file = path.join(directory, "gateway.json");
	return { file, tokens: createTokens(file, createDiskFiles(privateBelow(directory)), randomIdentifiers, user) };
}

describe("createTokens", () => {
	it("makes a token of each scope in a file for its owner alone", async () => {
		const { file, tokens } = createPlace();
		await tokens.prepare(false);
		expect(statSync(file).mode & 0o777).toBe(0o600);
		const control = (await tokens.find("control")) ?? "";
		const observe = (await tokens.find("observe")) ?? "";
		expect(control).toMatch(/^[0-9a-f]{64}$/);
		expect(observe).not.toBe(control);
		expect(await tokens.scopeOf(control)).toBe("control");
		expect(await tokens.scopeOf(observe)).toBe("observe");
	});

	it("makes the directory as well, where nothing was stored yet", async () => {
		const { file } = createPlace();
		const below = path.join(path.dirname(file), "share", "gateway.json");
		const tokens = createTokens(below, createDiskFiles(privateBelow(path.dirname(file))), randomIdentifiers, user);
		await tokens.prepare(false);
		expect(await tokens.find("control")).not.toBeNull();
	});

	it("reads the file once for all who ask meanwhile, and again for whoever asks after it was replaced", async () => {
		const { file } = createPlace();
		const disk = createDiskFiles(privateBelow(path.dirname(file)));
		const held = createDeferred<void>();
		let reads = 0;
		const files = {
			...disk,
			async read(path: string) {
				reads += 1;
				const bytes = await disk.read(path);
				await held.promise;
				return bytes;
			},
		};
		const tokens = createTokens(file, files, randomIdentifiers, user);
		await createTokens(file, disk, randomIdentifiers, user).prepare(true);
		const { token } = JSON.parse(readFileSync(file, "utf8")).tokens[0];
		const early = tokens.scopeOf(token);
		await vi.waitFor(() => expect(reads).toBe(1), { interval: 1 });
		await createTokens(file, disk, randomIdentifiers, user).prepare(true);
		const late = Array.from({ length: 1000 }, () => tokens.scopeOf(token));
		held.resolve();
		expect(await early).toBe("control");
		expect(new Set(await Promise.all(late))).toEqual(new Set([null]));
		expect(reads).toBe(2);
	});

	it("knows nothing but whole tokens", async () => {
		const { tokens } = createPlace();
		await tokens.prepare(false);
		const control = (await tokens.find("control")) ?? "";
		for (const wrong of ["", control.slice(1), `${control}0`, control.toUpperCase(), "constructor"]) {
			expect(await tokens.scopeOf(wrong)).toBeNull();
		}
	});

	it("leaves a file as it is, until new tokens are asked for, which end the earlier ones at once", async () => {
		const { file, tokens } = createPlace();
		await tokens.prepare(false);
		const before = readFileSync(file, "utf8");
		const control = (await tokens.find("control")) ?? "";
		await tokens.prepare(false);
		expect(readFileSync(file, "utf8")).toBe(before);
		await tokens.prepare(true);
		expect(await tokens.scopeOf(control)).toBeNull();
		expect(await tokens.scopeOf((await tokens.find("control")) ?? "")).toBe("control");
	});

	it.runIf(user === 0)("refuses a file of another user, who may change it", async () => {
		const { file, tokens } = createPlace();
		await tokens.prepare(false);
		chownSync(file, 12_345, 12_345);
		await expect(tokens.find("control")).rejects.toThrow("it belongs to another user");
		await expect(tokens.prepare(false)).rejects.toThrow("it belongs to another user");
	});

	it.skipIf(process.platform === "win32")("looks at what a link leads to, and replaces that", async () => {
		const { file, tokens } = createPlace();
		const target = path.join(path.dirname(file), "elsewhere.json");
		await tokens.prepare(false);
		const token = (await tokens.find("control")) ?? "";
		renameSync(file, target);
		symlinkSync(target, file);
		expect(await tokens.scopeOf(token)).toBe("control");
		chmodSync(target, 0o640);
		await expect(tokens.scopeOf(token)).rejects.toThrow("chmod 600");
		chmodSync(target, 0o600);
		await tokens.prepare(true);
		expect(await tokens.scopeOf(token)).toBeNull();
		expect([lstatSync(file).isSymbolicLink(), readFileSync(target, "utf8").includes(token)]).toEqual([true, false]);
	});

	it.skipIf(process.platform === "win32")("waits for no pipe in place of the file", async () => {
		const { file, tokens } = createPlace();
		execFileSync("mkfifo", ["-m", "600", file]);
		await expect(tokens.find("control")).rejects.toThrow("it is not a file");
	});

	it("is never without tokens while they are replaced", async () => {
		const { tokens } = createPlace();
		await tokens.prepare(false);
		let isDone = false;
		const looking = (async () => {
			let looks = 0;
			for (; !isDone; looks += 1) expect(await tokens.find("control")).toMatch(/^[0-9a-f]{64}$/);
			return looks;
		})();
		const replaced = new Set<string | null>();
		for (let count = 0; count < 20; count += 1) {
			await tokens.prepare(true);
			replaced.add(await tokens.find("control"));
		}
		isDone = true;
		expect(await looking).toBeGreaterThan(20);
		expect(replaced.size).toBe(20);
		expect(await tokens.scopeOf([...replaced][0] ?? "")).toBeNull();
	});

	it.each<[string, string, string]>([
		["no JSON", "{", "it is not JSON"],
		["another form", '{"tokens":[{"token":"short","scope":"control"}]}', "does not have the expected format"],
		[
			"an unknown scope",
			JSON.stringify({ tokens: [{ token: "a".repeat(64), scope: "root" }] }),
			"does not have the expected format",
		],
		["too much", " ".repeat(70_000), "larger than 64 KiB"],
		["nested brackets", "[".repeat(50_000), "it is not JSON"],
	])("refuses a file with %s, and says where it is", async (_name, text, why) => {
		const { file, tokens } = createPlace();
		writeFileSync(file, text, { mode: 0o600 });
		const expected = expect.objectContaining({ code: "storage-failed", message: expect.stringContaining(why) });
		await expect(tokens.scopeOf("x")).rejects.toEqual(expected);
		await expect(tokens.prepare(false)).rejects.toThrow(file);
	});

	it("refuses a file that others may read", async () => {
		const { file, tokens } = createPlace();
		await tokens.prepare(false);
		chmodSync(file, 0o644);
		await expect(tokens.scopeOf("x")).rejects.toThrow(`chmod 600 ${file}`);
	});
});
