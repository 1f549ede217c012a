import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { attachReader } from "../../../../test/support/protocol/event-reader.ts";
import { silentPeer } from "../../../../test/support/protocol/silent-peer.ts";
import { createHost } from "../../../../test/support/sessions/session-host.ts";
import { KernelError } from "../../../base/errors.ts";
import { randomIdentifiers } from "../../../base/ids.ts";
import { silentLog } from "../../../base/log.ts";
import { plainRequest } from "../../../kernel/hosting/hosted-options.ts";
import { createSettingsDocuments } from "../../../kernel/hosting/settings-documents.ts";
import { plainCodec } from "../codec.ts";
import { initializeParamsSchema } from "../wire.ts";
import { AttachedSessions } from "./attached-sessions.ts";

describe("AttachedSessions", () => {
	it("attaches anew after the history could not be read", async () => {
		const { host, clock, files } = await createHost();
		const handle = await host.create(plainRequest);
		await handle.session.send({ type: "session.establish" });
		const hook = { kind: "client", event: "UserPromptSubmit", matcher: "", timeout: 30, subscriptionId: "h" } as const;
		const other = await attachReader(handle.session, { hooks: [hook] });
		// While a turn runs, the history says of what it consists so far.
		const started = handle.startTurn("text: hello");
		await other.event("interaction.requested");
		const kernelApi = {
			sessions: host,
			server: { name: "agentwire", version: "1" },
			account: null,
			documents: createSettingsDocuments({ files, clock, workDir: "/work", home: "/home" }),
			clock,
			identifiers: randomIdentifiers,
			log: silentLog,
		};
		const { clientCapabilities } = v.parse(initializeParamsSchema, { protocolVersion: 1 });
		const client = { capabilities: clientCapabilities, info: null, createCodec: () => plainCodec };
		const attached = new AttachedSessions({
			kernelApi,
			peer: silentPeer,
			client: () => client,
			gone: new AbortController().signal,
		});
		vi.spyOn(handle.session, "events").mockImplementationOnce(() => {
			throw new KernelError("storage-failed", "The history is away.");
		});
		await expect(attached.to(handle)).rejects.toMatchObject({ code: "storage-failed" });
		expect((await handle.session.snapshot()).clients).toHaveLength(1);
		const { begun } = await attached.to(handle);
		await begun;
		expect((await handle.session.snapshot()).clients).toHaveLength(2);
		other.attachment.close();
		await started;
	});
});
