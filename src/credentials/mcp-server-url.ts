// Which URLs are of the same MCP server.

/** The URL as keys have it: with and without a slash at its end it is of the same server. */
export const withoutSlash = (url: string) => url.replace(/\/+$/, "");
