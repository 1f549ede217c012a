import { expect, it } from "vitest";
import { fileFailureReason, fileFailureText } from "./file-failure.ts";

const failure = (code: string, path?: string) =>
	Object.assign(new Error(`${code}: refused, open '${path}'`), { code, ...(path === undefined ? {} : { path }) });

it.each([
	["ENOSPC", "/a/mcp.json", "/a/mcp.json cannot be used: no space is left on the disk (ENOSPC). Free some space"],
	["EACCES", "/a/b", "/a/b cannot be used: you have no permission (EACCES). Make it readable and writable"],
	["EROFS", "/a/.0123456789abcdef01.tmp", "/a cannot be used: the file system is read-only (EROFS). Make it writable"],
	["ENOSPC", "/a/.0123456789abcdef01.tmp/plugin/big", "/a cannot be used: no space is left on the disk (ENOSPC)."],
	["EACCES", "/.0123456789abcdef01.tmp", "/ cannot be used: you have no permission (EACCES)."],
])("of %s at %s", (code, path, expected) => {
	expect(fileFailureText(failure(code, path))).toContain(expected);
});

it("leaves other errors alone", () => {
	expect(fileFailureText(failure("ELOOP", "/a"))).toBe("ELOOP: refused, open '/a'");
	expect(fileFailureText(failure("EACCES"))).toBe("EACCES: refused, open 'undefined'");
	expect(fileFailureText(new Error("no"))).toBe("no");
	expect(fileFailureText("no")).toBe("no");
});

it("says why and what to do after words that name the file", () => {
	const full = "no space is left on the disk (ENOSPC). Free some space there, then try again.";
	expect(fileFailureReason(failure("ENOSPC"))).toBe(full);
	expect(fileFailureReason(failure("ENOSPC", "/a"))).toBe(full);
	expect(fileFailureReason(failure("ELOOP", "/a"))).toBe("ELOOP: refused, open '/a'");
});
