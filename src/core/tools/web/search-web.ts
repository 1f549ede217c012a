import * as v from "valibot";
import { type ToolReturn, toolError } from "../../../api/values/content.ts";
import { withAdmissionNote } from "../../../base/client-admission.ts";
import { fetchFailureText } from "../../../base/errors.ts";
import { sentences } from "../../../base/text/sentence.ts";
import { boolean, integer } from "../argument-schemas.ts";
import { createOutputBuilder } from "../output-builder.ts";
import type { Tool, ToolEnvironment, WebService } from "../tool.ts";
import { cancelledResult, defineTool, freeUnlessRuled } from "../tool-definition.ts";
import { readAtMost } from "./response-body.ts";

export const searchToolName = "SearchWeb";

/** Timeout in seconds. */
const timeout = 30;
/** Maximum response size in bytes; twenty pages with content are much smaller. */
const maximumBytes = 32 * 1024 * 1024;

const description = `Search the web.

- Finds what is newer than your knowledge, or not part of it. Each result has a title, a date, an address and a summary.
- With \`include_content\` the text of the pages comes along, which takes much of the context: search without it first, and look at a page that matters by its address.
- Name the source of what you use.`;

const schema = v.object({
	query: v.pipe(v.string(), v.description("What to search for.")),
	limit: v.optional(
		v.pipe(
			integer(),
			v.minValue(1),
			v.maxValue(20),
			v.description("How many results to show. Rather search again with better words than for more."),
		),
		5,
	),
	include_content: v.optional(v.pipe(boolean(), v.description("Whether the text of the pages comes along.")), false),
});

type Query = v.InferOutput<typeof schema>;

/** Missing and null values become empty. */
const text = v.pipe(
	v.nullish(v.string(), ""),
	v.transform((value) => value.trim()),
);
const answerSchema = v.object({
	search_results: v.array(v.object({ title: text, date: text, url: text, snippet: text, content: text })),
});
type SearchResult = v.InferOutput<typeof answerSchema>["search_results"][number];

function toBlock({ title, date, url, snippet, content }: SearchResult): string {
	const head = `Title: ${title}\nDate: ${date}\nURL: ${url}\nSummary: ${snippet}\n`;
	return content === "" ? head : `${head}\n${content}\n`;
}

function toResult(results: readonly SearchResult[], query: string): ToolReturn {
	const output = createOutputBuilder(null);
	for (const [index, result] of results.entries()) output.write(`${index === 0 ? "" : "\n---\n\n"}${toBlock(result)}`);
	const count = results.length === 1 ? "1 result" : `${results.length} results`;
	return output.success(results.length === 0 ? `Nothing was found for \`${query}\`` : `Found ${count}`);
}

function notConfigured(missing: string): ToolReturn {
	return toolError(
		`The search service cannot be used: ${missing}. The user can fix it in the settings.`,
		"Search service not configured",
	);
}

/** The request headers; the service's own override ours. Null if HTTP does not allow them. */
function toHeaders({ customHeaders }: WebService, token: string): Headers | null {
	const headers = new Headers({ accept: "application/json", "content-type": "application/json" });
	try {
		headers.set("authorization", `Bearer ${token}`);
		for (const [name, value] of Object.entries(customHeaders)) headers.set(name, value);
		return headers;
	} catch {
		return null;
	}
}

function toBody({ query, limit, include_content }: Query): string {
	return JSON.stringify({
		text_query: query,
		limit,
		enable_page_crawling: include_content,
		timeout_seconds: timeout,
	});
}

/** Explains an error status to the user who configured the service. */
function refusedBy(status: number): ToolReturn {
	const hint =
		status === 401 || status === 403
			? " It rejected the key of services.moonshot_search: the user can fix it in the settings."
			: " Try again later, or with other words.";
	const refusal = `The search service answered with HTTP ${status}.${hint}`;
	return toolError(sentences(withAdmissionNote(status, refusal)), "Failed to search");
}

function readAnswer(body: string): readonly SearchResult[] | null {
	try {
		const answer = v.safeParse(answerSchema, JSON.parse(body));
		return answer.success ? answer.output.search_results : null;
	} catch {
		return null;
	}
}

export function createSearchWeb({ web, clock }: ToolEnvironment): Tool | null {
	const service = web.searchService;
	if (service === null) return null;

	const request = async (url: string, headers: Headers, query: Query, signal: AbortSignal): Promise<ToolReturn> => {
		// A redirect would send the key to an address chosen by the answer.
		const response = await web.network.fetch(url, {
			method: "POST",
			headers,
			body: toBody(query),
			signal,
			redirect: "manual",
		});
		if (!response.ok) {
			await response.body?.cancel();
			return refusedBy(response.status);
		}
		const body = await readAtMost(response, maximumBytes);
		const results = body === null ? null : readAnswer(body.toString("utf8"));
		if (results !== null) return toResult(results, query.query);
		return toolError(
			"The search service answered with something other than search results.",
			"Failed to parse search results",
		);
	};

	const search = async (query: Query, signal: AbortSignal): Promise<ToolReturn> => {
		const { baseUrl } = service;
		if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
			return notConfigured("services.moonshot_search.base_url is not an http(s) URL");
		}
		const deadline = new AbortController();
		const withdraw = clock.after(timeout * 1000, () => deadline.abort());
		try {
			const token = await service.token();
			if (token === "") return notConfigured("there is no key for services.moonshot_search");
			const headers = toHeaders(service, token);
			if (headers === null) {
				return notConfigured("the key or the headers of services.moonshot_search hold what HTTP does not allow");
			}
			return await request(baseUrl, headers, query, AbortSignal.any([signal, deadline.signal]));
		} catch (thrown) {
			if (signal.aborted) return cancelledResult();
			if (deadline.signal.aborted) {
				return toolError(`The search service did not answer within ${timeout} s.`, "Search request timed out");
			}
			return toolError(`The search service could not be reached: ${reason(thrown)}.`, "Search request failed");
		} finally {
			withdraw();
		}
	};

	return defineTool({
		name: searchToolName,
		description,
		schema,
		prepare: (query) => {
			const subject = { kind: "web-search", query: query.query } as const;
			return freeUnlessRuled(
				{ action: "search the web", subject, description: `Search the web for "${query.query}"` },
				(signal) => search(query, signal),
			);
		},
	});
}

function reason(thrown: unknown): string {
	return fetchFailureText(thrown).replace(/\.$/, "");
}
