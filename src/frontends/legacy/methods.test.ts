import { describe, expect, it, vi } from "vitest";
import { silentPeer } from "../../../test/support/protocol/silent-peer.ts";
import { createHost } from "../../../test/support/sessions/session-host.ts";
import { KernelError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { plainRequest } from "../../kernel/hosting/hosted-options.ts";
import { noCompatibility } from "../shared/dialect.ts";
import { LegacyConnection } from "./methods.ts";

describe("run", () => {
	it("attaches the client again after that has failed", async () => {
		const { host } = await createHost();
		const { session } = await host.create(plainRequest);
		const server = { name: "agentwire", version: "1" };
		const connection = new LegacyConnection(
			{ session, server, compatibility: noCompatibility, log: silentLog },
			silentPeer,
		);
		vi.spyOn(session, "attach").mockRejectedValueOnce(new KernelError("storage-failed", "The disk is full."));
		const call = connection.methods.get("run")?.prepare({ input: "text: hello" });
		const run = async () => (typeof call === "function" ? await call(() => {}, "1") : call);
		await expect(run()).rejects.toMatchObject({ code: "storage-failed" });
		expect(await run()).toEqual({ status: "finished" });
	});
});
