/** The whole body; null if longer than `maximum` bytes. Rejects on a connection error. */
export async function readAtMost(response: Response, maximum: number): Promise<Buffer | null> {
	if (response.body === null) return Buffer.alloc(0);
	const pieces: Uint8Array[] = [];
	let length = 0;
	// Leaving the loop early closes the connection.
	for await (const piece of response.body) {
		length += piece.length;
		if (length > maximum) return null;
		pieces.push(piece);
	}
	return Buffer.concat(pieces);
}
