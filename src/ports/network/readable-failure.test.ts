import { expect, it } from "vitest";
import { toNetworkFailure } from "./network-error.ts";
import { failureToResolve, readableFailure } from "./readable-failure.ts";

it.each([
	["80CC44:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl3_record.c:350:\n", /speak TLS/],
	["error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER", /speak TLS/],
	[
		"80CC29:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:a.c:1:\n",
		/client certificate/,
	],
	["error:1000045c:SSL routines:OPENSSL_internal:TLSV1_ALERT_CERTIFICATE_REQUIRED", /client certificate/],
	[
		"805CBF:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:a.c:1:SSL alert number 70\n",
		/1\.2/,
	],
	["error:1000042e:SSL routines:OPENSSL_internal:TLSV1_ALERT_PROTOCOL_VERSION", /1\.2/],
	["error:1000042e:SSL routines:OPENSSL_internal:BAD_DECRYPT", /^TLS failed: bad decrypt$/],
	["certificate has expired", /^certificate has expired$/],
])("an error of the TLS library gets a text for people: %j", (text, expected) => {
	const failure = readableFailure(Object.assign(new Error(text), { code: "ERR_SSL" }));
	expect(failure.message).toMatch(expected);
	expect(failure).toHaveProperty("code", "ERR_SSL");
});

it("a name without an address is named, with the code of the error", () => {
	const failure = failureToResolve(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), "a.test");
	expect(failure).toHaveProperty("code", "ENOTFOUND");
	expect(toNetworkFailure(failure)).toEqual({ kind: "connection", message: "getaddrinfo ENOTFOUND a.test" });
});
