// The files of the page: what is sent of them, and under which headers.
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../test/support/store/memory-files.ts";
import { readPage, sendPageFile } from "./page.ts";

async function createSubject() {
	const files = createMemoryFiles();
	const html = Buffer.from("<!doctype html>");
	const write = async (file: string, content: Buffer) => {
		await files.makeDirectory(file.slice(0, file.lastIndexOf("/")));
		await files.replace(file, content.toString("latin1"));
	};
	await write("/web/index.html", html);
	await write("/web/assets/page-abcdef12.js", Buffer.from("let a;"));
	await write("/web/secret.txt", Buffer.from("no"));
	const page = await readPage("/web", files);
	if (page === null) throw new Error("there is no page");
	const get = (url: string, method = "GET", encoding = "") => {
		const seen: { status: number; headers: Record<string, unknown>; body: string } = {
			status: 0,
			headers: {},
			body: "",
		};
		const response = {
			writeHead(status: number, headers: Record<string, unknown>) {
				Object.assign(seen, { status, headers });
			},
			end: (body?: Buffer) => {
				seen.body = body?.toString() ?? "";
			},
		} as unknown as ServerResponse;
		const request = { url, method, headers: { "accept-encoding": encoding } } as unknown as IncomingMessage;
		return sendPageFile(page, request, response) ? seen : null;
	};
	return { get };
}

describe("the files of the page", () => {
	it("are the document, which is asked for anew, and assets, which never change", async () => {
		const { get } = await createSubject();
		expect(get("/")).toMatchObject({ status: 200, headers: { "cache-control": "no-cache" }, body: "<!doctype html>" });
		expect(get("/?session=x")).not.toBeNull();
		const script = get("/assets/page-abcdef12.js");
		expect(script?.headers).toMatchObject({
			"cache-control": "public, max-age=31536000, immutable",
			"content-type": "text/javascript; charset=utf-8",
			"x-content-type-options": "nosniff",
		});
		expect(String(get("/")?.headers["content-security-policy"])).toContain("require-trusted-types-for 'script'");
		expect(get("/", "HEAD")?.body).toBe("");
	});

	it.each(["/secret.txt", "/assets/", "/assets/../secret.txt", "/assets/..%2fsecret.txt", "//", "/index.html", "/rpc"])(
		"are not %s",
		async (url) => {
			expect((await createSubject()).get(url)).toBeNull();
		},
	);

	it("are not written to", async () => {
		expect((await createSubject()).get("/", "POST")).toBeNull();
	});

	it("are not there when the page was not built", async () => {
		expect(await readPage("/none", createMemoryFiles())).toBeNull();
	});
});
