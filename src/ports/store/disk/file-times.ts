/** Milliseconds within which two changes may have the same time. */
const tick = 100;
/** The same for whole-second timestamps: some file systems use two-second steps. */
const longTick = 2000 + tick;

/** Whether the file system seems to store times in whole seconds. */
export function hasWholeSeconds(modifiedAt: number): boolean {
	return modifiedAt % 1000 === 0;
}

/** Whether any later change must show a different time; milliseconds. */
export function showsLaterChanges(modifiedAt: number, now: number): boolean {
	return now - modifiedAt >= (hasWholeSeconds(modifiedAt) ? longTick : tick);
}
