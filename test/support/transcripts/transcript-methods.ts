// The methods of the dialects, read off the tables they serve a connection with.
import { silentLog } from "../../../src/base/log.ts";
import { acpDialect } from "../../../src/frontends/acp/dialect.ts";
import { onlyDraftDialect } from "../../../src/frontends/acp/v2/dialect.ts";
import { kimiDialect } from "../../../src/frontends/kimi/dialect.ts";
import { legacyDialect } from "../../../src/frontends/legacy/dialect.ts";
import { meerkatDialect } from "../../../src/frontends/meerkat/dialect.ts";
import type { Dialect } from "../../../src/frontends/shared/dialect.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import { parseTranscript } from "../../../src/testing/transcripts/format.ts";
import { silentPeer } from "../protocol/silent-peer.ts";
import { openSession } from "./transcript-memory.ts";
import { preparePlace } from "./transcript-place.ts";

/** The method names of every dialect that has transcripts. */
export async function methodNames(): Promise<{
	readonly kimi: string[];
	readonly legacy: string[];
	readonly meerkat: string[];
	readonly acp: string[];
	readonly acpDraft: string[];
}> {
	const transcript = parseTranscript("none", "with: no model");
	const place = await preparePlace(transcript);
	try {
		const { session, compatibility, close } = await openSession(transcript, place, createMemoryStore());
		if (session === null) throw new Error("there is no session");
		const hosted = await openSession({ ...transcript, server: "meerkat" }, place, createMemoryStore());
		if (hosted.host === undefined) throw new Error("there is no host");
		const server = { name: "agentwire", version: "0" };
		const names = (dialect: Dialect) => [
			...dialect.converse({ session, server, compatibility, log: silentLog }, silentPeer).methods.keys(),
		];
		const kernelApi = { ...hosted.host, server, log: silentLog };
		const meerkat = [...meerkatDialect.converse(kernelApi, silentPeer).methods.keys()];
		const acp = [...acpDialect.converse(kernelApi, silentPeer).methods.keys()];
		const acpDraft = [...onlyDraftDialect.converse(kernelApi, silentPeer).methods.keys()];
		const methods = { kimi: names(kimiDialect), legacy: names(legacyDialect), meerkat, acp, acpDraft };
		await Promise.all([close(), hosted.close()]);
		return methods;
	} finally {
		await place.remove();
	}
}
