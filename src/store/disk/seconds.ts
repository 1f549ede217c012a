// Times in files that are shared with the reference: seconds since the epoch, where the program has milliseconds.

export function toSeconds(milliseconds: number | null): number | null {
	return milliseconds === null ? null : milliseconds / 1000;
}

export function toMilliseconds(seconds: number | null): number | null {
	return seconds === null ? null : seconds * 1000;
}
