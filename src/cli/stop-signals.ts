// The signals by which people and programs stop us, and who listens to them.

/** With the exit codes that shells give for them. */
export const stopSignals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type StopSignal = keyof typeof stopSignals;

/** From now on the signals are handled by this alone. */
export function handleStopSignals(handle: (signal: StopSignal) => void): void {
	for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
		const before = process.listeners(signal);
		process.on(signal, () => handle(signal));
		// After the new one: a signal that has come and is not dealt with yet is lost when nobody listens, be it for a moment.
		for (const listener of before) process.off(signal, listener);
	}
}
