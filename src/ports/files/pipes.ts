// Reads pipes named by the user, such as the shell's `<(command)`, without blocking a thread.
import { closeSync, constants, open, readSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { promisify } from "node:util";
import type { Clock } from "../../base/clock.ts";
import { systemErrorCode } from "../../base/errors.ts";
import { runsOnBun } from "../../base/program-form.ts";
import type { Files } from "./port.ts";

/** Maximum bytes read from a pipe. */
const limit = 16 * 1024 * 1024;

/** Milliseconds to wait for each chunk, and for the end. */
const patience = 30_000;

/** Wraps the port so that `read` supports pipes at these paths. */
export function readingPipes(files: Files, paths: ReadonlySet<string>, clock: Clock): Files {
	return {
		...files,
		admitting: (admit) => readingPipes(files.admitting(admit), paths, clock),
		async read(path, most) {
			const mayBePipe = paths.has(path) && (await files.status(path))?.kind === "other";
			return (mayBePipe ? await readPipe(path, clock) : null) ?? (await files.read(path, most));
		},
	};
}

async function readPipe(path: string, clock: Clock): Promise<Buffer | null> {
	if (!(await stat(path)).isFIFO()) return null;
	const descriptor = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
	if (runsOnBun) return await poll(descriptor, path, clock);
	return await drain(new Socket({ fd: descriptor, readable: true, writable: false }), path, clock);
}

const pollInterval = 10;

/** In Bun, a socket treats a pipe without a writer as ended. */
async function poll(descriptor: number, path: string, clock: Clock): Promise<Buffer> {
	const pieces: Buffer[] = [];
	let size = 0;
	let waited = 0;
	try {
		for (;;) {
			const piece = readPiece(descriptor);
			if (piece !== null && piece.length > 0) {
				pieces.push(piece);
				size += piece.length;
				waited = 0;
				if (size > limit) throw pipeError("EFBIG", `more than ${limit} bytes`, path);
			} else if (piece !== null && size > 0) {
				return Buffer.concat(pieces);
			} else if (waited >= patience) {
				throw pipeError("ETIMEDOUT", `nothing has come for ${patience / 1000} s`, path);
			} else {
				waited += pollInterval;
				await new Promise<void>((resolve) => clock.after(pollInterval, resolve));
			}
		}
	} finally {
		closeSync(descriptor);
	}
}

/** The available data; null if the writer has not written yet, empty if there is no writer. */
function readPiece(descriptor: number): Buffer | null {
	const piece = Buffer.allocUnsafe(65_536);
	try {
		return piece.subarray(0, readSync(descriptor, piece));
	} catch (thrown) {
		if (systemErrorCode(thrown) === "EAGAIN") return null;
		throw thrown;
	}
}

function pipeError(code: string, reason: string, path: string): Error {
	return Object.assign(new Error(`${code}: ${reason}, read '${path}'`), { code, path });
}

function drain(pipe: Socket, path: string, clock: Clock): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const pieces: Buffer[] = [];
		let size = 0;
		const fail = (code: string, reason: string) => pipe.destroy(pipeError(code, reason, path));
		const wait = () => clock.after(patience, () => fail("ETIMEDOUT", `nothing has come for ${patience / 1000} s`));
		let withdraw = wait();
		pipe.on("data", (piece: Buffer) => {
			withdraw();
			withdraw = wait();
			pieces.push(piece);
			size += piece.length;
			if (size > limit) fail("EFBIG", `more than ${limit} bytes`);
		});
		pipe.once("error", reject);
		pipe.once("end", () => resolve(Buffer.concat(pieces)));
		pipe.once("close", () => withdraw());
	});
}
