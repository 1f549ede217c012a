const first = 4_000;
const longest = 30_000;

/** Milliseconds for each attempt: increasing, in case the database is slow. Never ends. */
export function* statementTimeouts(): Generator<number, never> {
	for (let timeout = first; ; timeout = Math.min(2 * timeout, longest)) yield timeout;
}
