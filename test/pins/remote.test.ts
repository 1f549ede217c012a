// Frozen: what crosses to a kernel elsewhere, for the version that both sides compare. When this goes red, programs of the
// version before can no more talk to this one, or would fail in the middle: raise the version in the same commit.
import { createHash } from "node:crypto";
import { toJsonSchema } from "@valibot/to-json-schema";
import { expect, it } from "vitest";
import { notifications, requests } from "../../src/remote/protocol.ts";
import { remoteVersion } from "../../src/remote/remote-version.ts";

it("pins the values that cross to a kernel elsewhere to their version", () => {
	const values = [
		...Object.entries(requests).map(([name, { params, result }]) => [name, params, result] as const),
		...Object.entries(notifications).map(([name, params]) => [name, params] as const),
	].map(([name, ...schemas]) => [name, ...schemas.map((schema) => toJsonSchema(schema, { errorMode: "ignore" }))]);
	const digest = createHash("sha256").update(JSON.stringify(values)).digest("hex").slice(0, 16);
	expect({ version: remoteVersion, digest }).toEqual({ version: 16, digest: "4a3d8b5f8faa0f19" });
});
