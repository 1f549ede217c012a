// What a server of PostgreSQL sends, message by message: a byte that says what it is, the length of the rest, the rest.
const headerSize = 5;

/** Takes bytes as they come, and gives those of the messages that are whole by then and not dropped. */
export function createMessageFilter(isDropped: (type: number) => boolean): (bytes: Buffer) => Buffer {
	let rest = Buffer.alloc(0);
	return (bytes) => {
		rest = Buffer.concat([rest, bytes]);
		const passed: Buffer[] = [];
		let start = 0;
		while (rest.length - start >= headerSize) {
			const end = start + 1 + rest.readUInt32BE(start + 1);
			if (rest.length < end) break;
			if (!isDropped(rest.readUInt8(start))) passed.push(rest.subarray(start, end));
			start = end;
		}
		rest = rest.subarray(start);
		return Buffer.concat(passed);
	};
}
