import { describe, expect, it } from "vitest";
import { errorText, KernelError, systemErrorCode, toKernelError } from "./errors.ts";

describe("toKernelError", () => {
	it("returns kernel errors unchanged", () => {
		const error = new KernelError("busy", "no", { data: { a: 1 } });
		expect(toKernelError(error)).toBe(error);
		expect({ ...error, message: error.message }).toMatchObject({ code: "busy", message: "no", data: { a: 1 } });
	});

	it.each([[new Error("secret path /x")], ["secret"], [null], [undefined]])(
		"hides other thrown values, but preserves them as the cause",
		(thrown) => {
			const error = toKernelError(thrown);
			expect(error.code).toBe("internal");
			expect(error.message).not.toContain("secret");
			expect(error.data).toBeNull();
			expect(error.cause).toBe(thrown);
		},
	);
});

describe("the text and the code of a thrown value", () => {
	it("gives a text for any value", () => {
		expect(errorText(new Error("a"))).toBe("a");
		expect(errorText(5)).toBe("5");
		expect(errorText(null)).toBe("null");
	});

	it("gives the system's code when there is one", () => {
		expect(systemErrorCode(Object.assign(new Error("x"), { code: "ENOENT" }))).toBe("ENOENT");
		expect(systemErrorCode(Object.assign(new Error("x"), { code: 5 }))).toBeNull();
		expect(systemErrorCode(new Error("x"))).toBeNull();
		expect(systemErrorCode({ code: "ENOENT" })).toBeNull();
	});
});
