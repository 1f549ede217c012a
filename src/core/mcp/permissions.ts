import type { FetchLike } from "@modelcontextprotocol/client";
import type { McpAuthorization } from "./authorization.ts";

type Library = Pick<typeof import("@modelcontextprotocol/client"), "extractWWWAuthenticateParams">;

/** A fetch for the server at this URL that inspects refusals before passing them on. */
export function watchPermissions(
	fetch: FetchLike,
	{ extractWWWAuthenticateParams }: Library,
	authorization: Pick<McpAuthorization, "needs">,
	url: string,
): FetchLike {
	return async (input, init) => {
		const response = await fetch(input, init);
		if (response.status !== 403) return response;
		const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
		if (error === "insufficient_scope" && scope !== undefined) {
			await authorization.needs(url, { scope, ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }) });
		}
		return response;
	};
}
