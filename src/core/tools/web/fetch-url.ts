import * as v from "valibot";
import { type ToolReturn, toolError, toolSuccess } from "../../../api/values/content.ts";
import { sentences } from "../../../base/text/sentence.ts";
import { isAddress, withoutBrackets } from "../../../ports/network/host.ts";
import type { Fetch } from "../../../ports/network/network-settings.ts";
import { createOutputBuilder } from "../output-builder.ts";
import type { Tool, ToolCallContext, ToolEnvironment } from "../tool.ts";
import { cancelledResult, defineTool, freeUnlessRuled, settled } from "../tool-definition.ts";
import type { ReadPage } from "./page-reader.ts";
import { getPage, type PageAnswer, type PageLimits, readAddress } from "./page-request.ts";

/** Limits in milliseconds and page bytes. */
export interface FetchLimits extends PageLimits {
	readonly connect: number;
	readonly silence: number;
	readonly service: number;
}

const standardLimits: FetchLimits = {
	total: 180_000,
	silence: 60_000,
	connect: 15_000,
	service: 60_000,
	redirects: 10,
	bytes: 10 * 1024 * 1024,
};

const description = `Fetch a page from the web and read it.

- Of an HTML page you get the main text as Markdown, with its links, tables and code; plain text, Markdown, JSON and the like come as they are.
- The URL must be a whole one, beginning with http:// or https://. Redirects are followed.
- Pages on this machine or in a private network are not fetched, nor are pictures and other files that are not text.
- A page that builds itself with scripts may come with little text; look for another source then.`;

const schema = v.object({
	url: v.pipe(v.string(), v.description("The URL of the page.")),
});

type Answered = Extract<PageAnswer, { kind: "answered" }>;

export function createFetchUrl(environment: ToolEnvironment, limits: FetchLimits = standardLimits): Tool {
	const { web, clock } = environment;
	let guarding: Promise<Fetch> | null = null;
	/** Only public hosts, and hosts allowed in the settings. */
	const guard = (): Promise<Fetch> => {
		guarding ??= import("../../../ports/network/address-rule.ts").then(({ createPublicOnlyRule }) =>
			web.network.guarded({
				rule: createPublicOnlyRule(web.allowed),
				connectTimeout: limits.connect,
				silenceTimeout: limits.silence,
				// Page requests have their own limit.
				bodyLimit: null,
			}),
		);
		return guarding;
	};

	const askService = async (url: URL, { toolCallId }: ToolCallContext, signal: AbortSignal) => {
		const { fetchService: service, allowed } = web;
		if (service === null) return null;
		const [{ isPrivateHost }, { askFetchService }] = await Promise.all([
			import("../../../ports/network/address-rule.ts"),
			import("./fetch-service.ts"),
		]);
		if (isPrivateHost(withoutBrackets(url.hostname), allowed)) return null;
		const request = { url, toolCallId, timeout: limits.service, bytes: limits.bytes };
		const page = await askFetchService(service, web.network.fetch, request, clock, signal);
		if (page === null) return null;
		const output = createOutputBuilder(null);
		output.write(page);
		return output.success("The page was fetched by services.moonshot_fetch");
	};

	const run = async (url: URL, context: ToolCallContext, signal: AbortSignal): Promise<ToolReturn> => {
		const served = await askService(url, context, signal);
		if (served !== null || signal.aborted) return served ?? cancelledResult();
		const pageLimits = { ...limits, refuses: (next: URL) => web.refuses(next) };
		const answer = await getPage(await guard(), url, pageLimits, clock, signal);
		switch (answer.kind) {
			case "cancelled":
				return cancelledResult();
			case "failed":
				return toolError(answer.message, answer.brief);
			case "answered":
				return await toResult(answer, await describeUnchecked(answer, web), web.readPage, signal);
		}
	};

	return defineTool({
		name: "FetchURL",
		description,
		schema,
		prepare(input, context) {
			const url = readAddress(input.url.trim());
			if (typeof url === "string") return settled(toolError(url, "Invalid URL"));
			const subject = { kind: "network", url: url.href } as const;
			return freeUnlessRuled({ action: "fetch page", subject, description: `Fetch \`${url.href}\`` }, (signal) =>
				run(url, context, signal),
			);
		},
	});
}

/** A note on unchecked addresses if a proxy resolves names; else empty. */
async function describeUnchecked({ path }: Answered, { network }: ToolEnvironment["web"]): Promise<string> {
	const named = path.filter(({ hostname }) => !isAddress(withoutBrackets(hostname)));
	const variables = await Promise.all(named.map((url) => network.proxyVariable(url)));
	const variable = variables.find((found) => found !== null);
	if (variable === undefined || variable === null) return "";
	const hosts = [...new Set(named.filter((_url, index) => variables[index] !== null).map(({ hostname }) => hostname))];
	return `The proxy of ${variable} resolved ${hosts.join(", ")}, so agentwire could not check that the address is public`;
}

async function toResult(answer: Answered, note: string, readPage: ReadPage, signal: AbortSignal): Promise<ToolReturn> {
	const { status, statusText, contentType, body, path } = answer;
	const url = path.at(-1)?.href ?? "";
	const moved = path.length > 1 ? `The page is at ${url}` : "";
	if (status >= 400) {
		const text = `The server answered ${url} with HTTP ${status} ${statusText}`.trim();
		return toolError(sentences(text, note), `HTTP ${status} error`);
	}
	if (body.length === 0) {
		const message = sentences("The page is empty", moved, note);
		return toolSuccess({ message, display: [{ type: "brief", text: "Empty response body" }] });
	}
	const kind = kindOf(contentType, body);
	const output = createOutputBuilder(null);
	if (kind === "text") {
		const { decodeHtml } = await import("./web-page.ts");
		output.write(decodeHtml(body, contentType));
		return output.success(sentences("The page is shown as it is", moved, note));
	}
	const fail = (why: string): ToolReturn => toolError(sentences(why, moved, note), "No content extracted");
	if (kind === "other") return fail(`The page is not text (${contentType ?? "no content type"})`);
	const read = await readPage({ body, contentType, url }, signal);
	if (read.kind === "cancelled") return cancelledResult();
	if (read.kind === "failed") return fail(`The page could not be read: ${read.reason}`);
	const { page } = read;
	if (page === null) return fail("The page has no text; it may need a browser to render");
	output.write(`${page.title === null ? "" : `Title: ${page.title}\n`}URL: ${url}\n\n${page.markdown}`);
	return output.success(sentences("This is the main text of the page", note));
}

type PageKind = "html" | "text" | "other";

const textTypes =
	/^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|toml|javascript|ecmascript|x-ndjson|x-yaml|x-sh)$)/;

function kindOf(contentType: string | null, body: Uint8Array): PageKind {
	const type = (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
	if (type === "text/html" || type === "application/xhtml+xml") return "html";
	if (textTypes.test(type)) return "text";
	if (type !== "" && type !== "application/octet-stream") return "other";
	const start = Buffer.from(body.subarray(0, 1024));
	if (start.includes(0)) return "other";
	return /^\s*<(?:!doctype\s+html|html)\b/i.test(start.toString("latin1")) ? "html" : "text";
}
