// How long a statement that may be sent again waits for its answer.

const first = 4_000;
const longest = 30_000;

/** Milliseconds for each time that it is sent: longer each time, in case the database is slow. Never ends. */
export function* statementTimeouts(): Generator<number, never> {
	for (let timeout = first; ; timeout = Math.min(2 * timeout, longest)) yield timeout;
}
