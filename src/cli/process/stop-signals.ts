/** With the exit codes that shells use for them. */
export const stopSignals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type StopSignal = keyof typeof stopSignals;

export function handleStopSignals(handle: (signal: StopSignal) => void): void {
	for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
		const before = process.listeners(signal);
		process.on(signal, () => handle(signal));
		// After adding the new handler: a pending signal is lost while there is no listener.
		for (const listener of before) process.off(signal, listener);
	}
}
