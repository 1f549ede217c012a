import type { Clock } from "../../../base/clock.ts";
import type { Fetch } from "../../../ports/network/network-settings.ts";
import type { WebService } from "../tool.ts";
import { readAtMost } from "./response-body.ts";

export interface ServiceRequest {
	readonly url: URL;
	readonly toolCallId: string;
	/** Timeout in milliseconds. */
	readonly timeout: number;
	/** Maximum page size in bytes. */
	readonly bytes: number;
}

export async function askFetchService(
	service: WebService,
	fetch: Fetch,
	{ url, toolCallId, timeout, bytes }: ServiceRequest,
	clock: Clock,
	signal: AbortSignal,
): Promise<string | null> {
	const deadline = new AbortController();
	const withdraw = clock.after(timeout, () => deadline.abort());
	try {
		const token = await service.token();
		if (token === "") return null;
		const response = await fetch(service.baseUrl, {
			method: "POST",
			headers: toHeaders(service, token, toolCallId),
			body: JSON.stringify({ url: url.href }),
			// A redirect would send the key to an address chosen by the answer.
			redirect: "manual",
			signal: AbortSignal.any([signal, deadline.signal]),
		});
		if (response.status !== 200) return null;
		const page = await readAtMost(response, bytes);
		return page === null || page.length === 0 ? null : page.toString("utf8");
	} catch {
		return null;
	} finally {
		withdraw();
		deadline.abort();
	}
}

/** The service's own headers override ours. Throws for headers that HTTP does not allow. */
function toHeaders({ customHeaders }: WebService, token: string, toolCallId: string): Headers {
	const headers = new Headers({
		"content-type": "application/json",
		accept: "text/markdown",
		authorization: `Bearer ${token}`,
		"x-msh-tool-call-id": toolCallId,
	});
	for (const [name, value] of Object.entries(customHeaders)) headers.set(name, value);
	return headers;
}
