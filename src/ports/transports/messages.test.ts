import { describe, expect, it } from "vitest";
import type { Line } from "../../base/text/lines.ts";
import { createMessageTransport } from "./messages.ts";

const limits = { outboxLimit: 1000, replyLimit: 5000 };

function createSubject() {
	const sent: string[] = [];
	const held: (() => void)[] = [];
	const state = { paused: false, closed: false, isHeld: false, unfinished: "" };
	let onMessage = (_: string) => {};
	let onEnd = () => {};
	const transport = createMessageTransport(
		{
			send(piece, isLast, done) {
				state.unfinished += piece;
				if (isLast) {
					sent.push(state.unfinished);
					state.unfinished = "";
				}
				if (state.isHeld) held.push(done);
				else setImmediate(done);
			},
			receive(take, end) {
				onMessage = take;
				onEnd = end;
			},
			pause() {
				state.paused = true;
			},
			resume() {
				state.paused = false;
			},
			close() {
				state.closed = true;
			},
		},
		limits,
	);
	const lines: Line[] = [];
	const ended = new Promise<void>((resolve) => transport.receive((line) => lines.push(line), resolve));
	const release = () => {
		state.isHeld = false;
		for (const done of held.splice(0)) done();
	};
	return { transport, sent, state, lines, ended, release, take: (text: string) => onMessage(text), end: () => onEnd() };
}

describe("a transport of messages", () => {
	it("makes each line a message, and each message a line, with its line breaks", async () => {
		const { transport, sent, lines, take } = createSubject();
		for (const line of ["one", "", "two"]) transport.send(line);
		take('{\n"a":1\n}');
		await transport.flush();
		expect(sent).toEqual(["one", "", "two"]);
		expect(lines).toEqual([{ kind: "line", text: '{\n"a":1\n}' }]);
	});

	it("sends a long line in pieces of one message", async () => {
		const { transport, sent } = createSubject();
		transport.send("before");
		transport.send({
			length: 9,
			*[Symbol.iterator]() {
				yield* ["abc", "def", "ghi"];
			},
		});
		transport.send("after");
		await transport.flush();
		expect(sent).toEqual(["before", "abcdefghi", "after"]);
	});

	it("makes the producer wait for a client that does not read, and takes no more of one that reads no answers", async () => {
		const { transport, state, sent, release, take, lines } = createSubject();
		state.isHeld = true;
		transport.send("x".repeat(999));
		await Promise.resolve();
		expect(transport.isFull()).toBe(true);
		take("still");
		expect(state.paused).toBe(false);
		transport.send("y".repeat(5000));
		take("last");
		expect(state.paused).toBe(true);
		expect(lines).toHaveLength(2);
		release();
		await transport.ready();
		await transport.flush();
		await expect.poll(() => state.paused).toBe(false);
		expect(sent.map(({ length }) => length)).toEqual([999, 5000]);
	});

	it("ends with the socket, and lets nobody wait", async () => {
		const { transport, state, ended, end } = createSubject();
		state.isHeld = true;
		transport.send("x".repeat(2000));
		const waiting = transport.ready();
		end();
		await Promise.all([ended, waiting, transport.flush()]);
		expect(transport.gone.aborted).toBe(true);
	});

	it("closes the socket, and takes nothing afterwards", () => {
		const { transport, state, lines, take } = createSubject();
		transport.close();
		take("late");
		expect(state.closed).toBe(true);
		expect(lines).toEqual([]);
	});
});
