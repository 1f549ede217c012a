// What the time of a file's last change says of whether it has changed since.

/** Milliseconds within which two changes may have the same time. */
const tick = 100;
/** The same where times seem to be in whole seconds: some file systems count them by two. */
const longTick = 2000 + tick;

/** Whether the file system seems to count times in whole seconds. */
export function hasWholeSeconds(modifiedAt: number): boolean {
	return modifiedAt % 1000 === 0;
}

/**
 * Whether a file or directory that was looked at just now shows every later change by another time: another change at
 * this moment may have the same time as the last one. Both are milliseconds since the epoch.
 */
export function showsLaterChanges(modifiedAt: number, now: number): boolean {
	return now - modifiedAt >= (hasWholeSeconds(modifiedAt) ? longTick : tick);
}
