/** URLs that differ in a final slash are the same server. */
export const withoutSlash = (url: string) => url.replace(/\/+$/, "");
