import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { readPage, sendPageFile } from "./page.ts";

function createDirectory(): string {
	const directory = mkdtempSync(path.join(tmpdir(), "agentwire-page-"));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	return directory;
}

async function servePage() {
	const directory = createDirectory();
	mkdirSync(path.join(directory, "assets"));
	writeFileSync(path.join(directory, "index.html"), "<!doctype html>");
	writeFileSync(path.join(directory, "secret.txt"), "no");
	writeFileSync(path.join(directory, "assets", "page-abcd1234.js"), "run()");
	writeFileSync(path.join(directory, "assets", "page-abcd1234.js.gz"), gzipSync("run()"));
	const page = await readPage(directory, createDiskFiles());
	if (page === null) throw new Error("no page");
	const server = createServer((request, response) => {
		if (!sendPageFile(page, request, response)) response.writeHead(404).end();
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const bound = server.address();
	const port = bound === null || typeof bound === "string" ? 0 : bound.port;
	return (at: string, method = "GET", headers: Record<string, string> = {}) =>
		new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
			const request = sendRequest({ host: "127.0.0.1", port, path: at, method, headers, agent: false }, (response) => {
				const pieces: Buffer[] = [];
				response.on("data", (piece: Buffer) => pieces.push(piece));
				const { headers: given, statusCode = 0 } = response;
				response.on("end", () => resolve({ status: statusCode, headers: given, body: Buffer.concat(pieces) }));
			});
			request.on("error", reject);
			request.end();
		});
}

describe("sendPageFile", () => {
	it("sends HTML that a browser asks for anew, with what protects it", async () => {
		const answer = await (await servePage())("/?x=1");
		expect(answer.body.toString()).toBe("<!doctype html>");
		expect(answer.headers).toMatchObject({
			"cache-control": "no-cache",
			"content-type": "text/html; charset=utf-8",
			"content-security-policy": expect.stringContaining("require-trusted-types-for 'script'"),
			"x-frame-options": "DENY",
			"referrer-policy": "no-referrer",
		});
		expect(answer.headers["set-cookie"]).toBeUndefined();
		expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
	});

	it("sends assets for ever, compressed for those who take it", async () => {
		const get = await servePage();
		const plain = await get("/assets/page-abcd1234.js");
		expect(plain.headers["cache-control"]).toContain("immutable");
		expect(plain.body.toString()).toBe("run()");
		const compressed = await get("/assets/page-abcd1234.js", "GET", { "accept-encoding": "gzip, br" });
		expect(compressed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
		expect(gunzipSync(compressed.body).toString()).toBe("run()");
		expect((await get("/assets/page-abcd1234.js", "HEAD")).body.length).toBe(0);
	});

	it.each([
		"/secret.txt",
		"/assets/../secret.txt",
		"/assets/%2e%2e/secret.txt",
		"/assets/",
		"/assets/page-abcd1234.js.gz",
	])("has nothing at %s", async (at) => {
		expect((await (await servePage())(at)).status).toBe(404);
	});

	it("takes nothing but GET and HEAD", async () => {
		expect((await (await servePage())("/", "POST")).status).toBe(404);
	});
});

describe("readPage", () => {
	it("finds nothing where none was built", async () => {
		expect(await readPage(createDirectory(), createDiskFiles())).toBeNull();
	});
});
