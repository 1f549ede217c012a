// Normalizes the URLs of MCP servers, to compare them and to use them as keys.

/** A URL with and without a slash at its end is the same server. */
export const withoutSlash = (url: string) => url.replace(/\/+$/, "");
