import { describe, expect, it } from "vitest";
import { errorText, isSystemError, KernelError, systemErrorCode, toKernelError } from "./errors.ts";

function fail(): never {
	throw new Error("from inside");
}

function revoked(): object {
	const { proxy, revoke } = Proxy.revocable({}, {});
	revoke();
	return proxy;
}

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

	it.each([
		["a proxy", new Proxy({}, { get: fail, getPrototypeOf: fail, has: fail })],
		["a revoked proxy", revoked()],
		["an object whose text throws", { toString: fail }],
		["an object without a prototype", Object.create(null)],
		["an error whose message throws", Object.defineProperty(new Error("x"), "message", { get: fail })],
		["an error whose message is no text", Object.assign(new Error("x"), { message: Object.create(null) })],
	])("survives %s", (_name, thrown) => {
		expect(errorText(thrown)).toBe("an error without a readable text");
		expect(systemErrorCode(thrown)).toBeNull();
		expect(isSystemError(thrown)).toBe(false);
		expect(toKernelError(thrown).code).toBe("internal");
	});

	it("survives a system's code that throws", () => {
		expect(systemErrorCode(Object.defineProperty(new Error("x"), "code", { get: fail }))).toBeNull();
	});

	it("gives the system's code when there is one", () => {
		expect(systemErrorCode(Object.assign(new Error("x"), { code: "ENOENT" }))).toBe("ENOENT");
		expect(systemErrorCode(Object.assign(new Error("x"), { code: 5 }))).toBeNull();
		expect(systemErrorCode(new Error("x"))).toBeNull();
		expect(systemErrorCode({ code: "ENOENT" })).toBeNull();
	});
});
