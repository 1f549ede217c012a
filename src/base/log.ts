export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
	debug(message: string, fields?: LogFields): void;
	info(message: string, fields?: LogFields): void;
	warn(message: string, fields?: LogFields): void;
	error(message: string, fields?: LogFields): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Undoes partial work without throwing, because the original error must be passed on. Logs a failure. */
export async function undo(work: () => Promise<unknown>, message: string, log: Log): Promise<void> {
	try {
		await work();
	} catch (thrown) {
		log.warn(message, { error: thrown });
	}
}
