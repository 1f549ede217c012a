export function toSeconds(milliseconds: number | null): number | null {
	return milliseconds === null ? null : milliseconds / 1000;
}

export function toMilliseconds(seconds: number | null): number | null {
	return seconds === null ? null : seconds * 1000;
}
