// Public, because the files hold no secrets: the page gets its token from the URL fragment.
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import type { Files } from "../../ports/files/port.ts";
import { protectingHeaders } from "./replies.ts";

interface PageFile {
	readonly type: string;
	readonly plain: Buffer;
	readonly compressed: Buffer | null;
}

export type PageFiles = ReadonlyMap<string, PageFile>;

const types: Readonly<Record<string, string>> = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
};

export async function readPage(directory: string, files: Files): Promise<PageFiles | null> {
	const assets = path.join(directory, "assets");
	const page = new Map<string, PageFile>();
	const add = async (at: string, file: string) => {
		const type = types[path.extname(file)];
		const plain = type === undefined ? null : await files.read(file);
		if (type !== undefined && plain !== null) page.set(at, { type, plain, compressed: await files.read(`${file}.gz`) });
	};
	await add("/", path.join(directory, "index.html"));
	if (page.size === 0) return null;
	for (const { name } of await files.list(assets)) await add(`/assets/${name}`, path.join(assets, name));
	return page;
}

export function sendPageFile(page: PageFiles, request: IncomingMessage, response: ServerResponse): boolean {
	const [at = ""] = (request.url ?? "").split("?");
	const file = page.get(at);
	if (file === undefined || (request.method !== "GET" && request.method !== "HEAD")) return false;
	const takesGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
	const compressed = takesGzip ? file.compressed : null;
	const body = compressed ?? file.plain;
	response.writeHead(200, {
		...protectingHeaders,
		// Asset names contain a hash, so only the HTML can be out of date.
		"cache-control": /-[\w-]{6,}\.\w+$/.test(at) ? "public, max-age=31536000, immutable" : "no-cache",
		"content-type": file.type,
		"content-length": body.length,
		vary: "accept-encoding",
		...(compressed === null ? {} : { "content-encoding": "gzip" }),
	});
	response.end(request.method === "HEAD" ? undefined : body);
	return true;
}
