import { expect, it } from "vitest";
import { failureText } from "./mcp-request.ts";

it("a failure is said with its cause, once", () => {
	const refused = new Error("connect ECONNREFUSED\n127.0.0.1:1");
	expect(failureText(new TypeError("fetch failed", { cause: refused }))).toBe(
		"fetch failed: connect ECONNREFUSED 127.0.0.1:1",
	);
	const quoting = new Error("the tokens could not be renewed: connect ECONNREFUSED 127.0.0.1:1", { cause: refused });
	expect(failureText(quoting)).toBe("the tokens could not be renewed: connect ECONNREFUSED 127.0.0.1:1");
	expect(failureText("no")).toBe("no");
	expect(failureText(new Error("x".repeat(400)))).toBe(`${"x".repeat(300)}…`);
});
