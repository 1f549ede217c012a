import * as v from "valibot";
import { describe, expect, it } from "vitest";
import type { RpcId, RpcReply } from "../../ports/rpc/envelope.ts";
import { createClientFiles } from "./editor-files.ts";
import { clientCapabilitiesSchema } from "./wire.ts";

const never = new AbortController().signal;

function createSubject(fs: object) {
	const sent: unknown[] = [];
	const open = new Map<RpcId, (reply: RpcReply) => void>();
	const peer = {
		notify: (method: string, params: unknown) => void sent.push({ method, params }),
		call(id: RpcId, method: string, params: unknown, onReply: (reply: RpcReply) => void) {
			sent.push({ id, method, params });
			open.set(id, onReply);
		},
		withdraw: (id: RpcId) => void open.delete(id),
	};
	const gone = new AbortController();
	const files = createClientFiles(
		v.parse(clientCapabilitiesSchema, { fs }),
		peer,
		{
			uuid: () => "f-1",
			hex: () => "0",
		},
		gone.signal,
	);
	return { gone, files, sent, reply: (reply: RpcReply) => open.get("f-1")?.(reply), isOpen: () => open.has("f-1") };
}

const both = { readTextFile: true, writeTextFile: true };
const result = (value: unknown): RpcReply => ({ kind: "result", result: value });
const error: RpcReply = { kind: "error", error: { code: -32603, message: "no" } };

describe("the files of an editor", () => {
	it("are used as far as the editor serves them", () => {
		expect(createSubject({}).files).toBeNull();
		expect(Object.keys(createSubject({ readTextFile: true }).files?.port ?? {})).toEqual(["read"]);
		expect(Object.keys(createSubject({ writeTextFile: true }).files?.port ?? {})).toEqual(["write"]);
		expect(Object.keys(createSubject(both).files?.port ?? {})).toEqual(["read", "write"]);
	});

	it("are not asked for before the editor knows the session", async () => {
		const { files, sent } = createSubject(both);
		expect(await files?.port.read?.("/a", never)).toBeNull();
		expect(await files?.port.write?.("/a", "x", never)).toBe(false);
		expect(sent).toEqual([]);
	});

	it.each([
		[result({ content: "text" }), "text"],
		[result({ content: 5 }), null],
		[result(null), null],
		[error, null],
	])("are read, or the disk is where the reply is %j", async (reply, expected) => {
		const subject = createSubject(both);
		subject.files?.begin("s");
		const read = subject.files?.port.read?.("/a", never);
		expect(subject.sent).toEqual([{ id: "f-1", method: "fs/read_text_file", params: { sessionId: "s", path: "/a" } }]);
		subject.reply(reply);
		expect(await read).toBe(expected);
	});

	it.each([
		[result({}), true],
		[result(null), true],
		[error, false],
	])("are written, or the disk is where the reply is %j", async (reply, expected) => {
		const subject = createSubject(both);
		subject.files?.begin("s");
		const written = subject.files?.port.write?.("/a", "x", never);
		const params = { sessionId: "s", path: "/a", content: "x" };
		expect(subject.sent).toEqual([{ id: "f-1", method: "fs/write_text_file", params }]);
		subject.reply(reply);
		expect(await written).toBe(expected);
	});

	it("are given up when the client is gone, without waiting for it any more", async () => {
		const subject = createSubject(both);
		subject.files?.begin("s");
		const read = subject.files?.port.read?.("/a", never);
		subject.gone.abort();
		expect(await read).toBeNull();
		const asked = subject.sent.length;
		expect(await subject.files?.port.write?.("/a", "x", never)).toBe(false);
		expect(subject.sent).toHaveLength(asked);
	});

	it("are given up by an abort, which the editor is told", async () => {
		const subject = createSubject(both);
		subject.files?.begin("s");
		const abort = new AbortController();
		const read = subject.files?.port.read?.("/a", abort.signal);
		abort.abort();
		expect(await read).toBeNull();
		expect(subject.sent.slice(1)).toEqual([{ method: "$/cancel_request", params: { requestId: "f-1" } }]);
		expect(subject.isOpen()).toBe(false);
		expect(await subject.files?.port.read?.("/a", abort.signal)).toBeNull();
		expect(subject.sent).toHaveLength(2);
	});
});
