// Logs of old versions as a client sees them replayed: all of them, in the shapes of today, and under a cap on events by
// the names that they were written with.

import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { isRecord } from "../../src/base/json.ts";
import { silentLog } from "../../src/base/log.ts";
import { undocumented, type WireVersion } from "../../src/formats/history.ts";
import { serve } from "../../src/frontends/serve/serve.ts";
import { type Compatibility, noCompatibility } from "../../src/frontends/shared/dialect.ts";
import { createDiskFiles } from "../../src/ports/files/disk-files.ts";
import { createDiskStore } from "../../src/ports/store/disk/disk-store.ts";
import { createMemoryTransport } from "../../src/ports/transports/memory.ts";
import { differences } from "../support/protocol/document-examples.ts";
import { createSessionSubject } from "../support/sessions/session-subject.ts";
import { heldSession } from "../support/store/held-session.ts";
import { placeFixture } from "../support/store/session-fixtures.ts";
import { createSniffer } from "../support/transcripts/transcript-sniffer.ts";

interface Replayed {
	/** The messages of the log, as they were written. */
	readonly recorded: readonly unknown[];
	/** The messages that the client was sent. */
	readonly delivered: readonly unknown[];
	readonly result: unknown;
}

async function replay(name: string, compatibility: Compatibility): Promise<Replayed> {
	const place = await placeFixture(name);
	try {
		const log = await readFile(path.join(place.directory, "wire.jsonl"), "utf8");
		const recorded = log.split("\n").flatMap((line) => (line.includes('"message"') ? [JSON.parse(line).message] : []));
		const store = createDiskStore({
			files: createDiskFiles(),
			shareDir: place.shareDir,
			log: silentLog,
			clock: systemClock,
			protocolVersion: "1.10",
		});
		const stored = await store.openOrCreate(place.workDir, place.id);
		const { session } = await createSessionSubject(null, [], { stored: heldSession(stored) });
		const { transport, client } = createMemoryTransport(1_000_000, 262_144);
		const server = { name: "agentwire", version: "0" };
		const { signal } = new AbortController();
		const serving = serve({ transport, session, server, compatibility, log: silentLog, signal });
		const sniffer = createSniffer();
		const request = '{"jsonrpc":"2.0","id":"r","method":"replay"}';
		sniffer.sent(request);
		client.write(`${request}\n`);
		const delivered: unknown[] = [];
		for (;;) {
			const line = await client.read();
			if (line === null) throw new Error("the server is gone");
			sniffer.received(line);
			const { params, result } = JSON.parse(line);
			if (params === undefined) {
				client.end();
				await serving.finish();
				await session.close(AbortSignal.timeout(1000));
				return { recorded, delivered, result };
			}
			delivered.push(params);
		}
	} finally {
		await place.remove();
	}
}

function typesOf(messages: readonly unknown[]): string[] {
	return messages.map((message) => {
		if (!isRecord(message) || !isRecord(message["payload"])) return "none";
		const { type, payload } = message;
		return isRecord(payload["event"]) ? `${type} ${typesOf([payload["event"]])}` : String(type);
	});
}

const logs: readonly (readonly [name: string, version: WireVersion, events: number, requests: number])[] = [
	["headerless-old", "1.0", 23, 2],
	["log-1.1", "1.1", 18, 2],
	["log-1.3", "1.3", 17, 2],
	["log-1.5", "1.5", 19, 2],
];

describe.each(logs)("the log %s, of version %s", (name, version, events, requests) => {
	it("is replayed in full, with every field it has", async () => {
		const { recorded, delivered, result } = await replay(name, noCompatibility);
		expect(result).toEqual({ status: "finished", events, requests });
		expect(delivered).toHaveLength(recorded.length);
		for (const [index, message] of delivered.entries()) {
			const lost = differences(message, recorded[index]).filter((difference) => !difference.startsWith("+"));
			const expected = lost.filter((difference) => /^(type|payload\.event\.type)$/.test(difference));
			expect([index, lost]).toEqual([index, expected]);
		}
	});

	it("is replayed by the names it was written with, under a cap of its version", async () => {
		const { recorded, delivered } = await replay(name, { ...noCompatibility, maxEvents: version });
		expect(typesOf(delivered)).toEqual(typesOf(recorded).filter((type) => !undocumented.includes(type)));
		const fields = delivered.flatMap((message) =>
			isRecord(message) && isRecord(message["payload"]) ? [message["payload"]] : [],
		);
		for (const payload of fields.filter((one) => "parent_tool_call_id" in one)) {
			expect(payload["task_tool_call_id"]).toBe(payload["parent_tool_call_id"]);
		}
	});
});
