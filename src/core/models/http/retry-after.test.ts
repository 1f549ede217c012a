import { describe, expect, it } from "vitest";
import { readErrorDetails } from "./error-details.ts";
import { readRetryAfter } from "./retry-after.ts";

const now = Date.parse("2026-11-20T21:00:00Z");

describe("headers that request a wait", () => {
	it.each([
		[{ "retry-after": "2" }, 2000],
		[{ "retry-after": "1.5" }, 1500],
		[{ "retry-after": " 12 " }, 12_000],
		[{ "retry-after-ms": "1500" }, 1500],
		[{ "retry-after-ms": "1500.2" }, 1501],
		[{ "retry-after": "2", "retry-after-ms": "1500" }, 1500],
		[{ "retry-after": "2", "retry-after-ms": "soon" }, 2000],
		[{ "retry-after": "Fri, 20 Nov 2026 21:00:12 GMT" }, 12_000],
		[{ "retry-after": "Friday, 20-Nov-26 21:01:00 GMT" }, 60_000],
		[{ "retry-after": "Fri Nov 20 21:00:12 2026 GMT" }, 12_000],
		[{ "retry-after": "Fri, 20 Nov 2026 20:59:00 GMT" }, null],
		[{ "retry-after": "0" }, null],
		[{ "retry-after": "31536000" }, 31_536_000_000],
		[{ "retry-after": "31536001" }, null],
		[{ "retry-after": `1${"0".repeat(400)}` }, null],
		[{ "retry-after": "1e23" }, null],
		[{ "retry-after-ms": "9".repeat(30), "retry-after": "2" }, 2000],
		[{ "retry-after": "Fri, 31 Dec 9999 21:00:12 GMT" }, null],
		[{ "retry-after": "-5" }, null],
		[{ "retry-after": "soon" }, null],
		[{ "retry-after": "2026-11-20" }, null],
		[{ "retry-after": "Someday, then" }, null],
		[{ "retry-after": "" }, null],
		[{}, null],
	])("%j: %s", (headers, expected) => expect(readRetryAfter(new Headers(headers), now)).toBe(expected));
});

describe("details that request a wait", () => {
	it.each([
		[[{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" }], 34_000],
		[[{ reason: "x" }, { retryDelay: "0.25s" }], 250],
		[[{ retryDelay: "0s" }], null],
		[[{ retryDelay: `${"9".repeat(30)}s` }, { retryDelay: "5s" }], 5000],
		[[{ retryDelay: "soon" }, { retryDelay: 5 }], null],
		[{ retryDelay: "5s" }, null],
		[null, null],
		["5s", null],
	])("%j: %s", (details, expected) => expect(readErrorDetails(details).retryAfter).toBe(expected));
});
