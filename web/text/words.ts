// Numbers, times and names as people read them.

export function toShortCount(count: number): string {
	if (count < 1000) return String(count);
	if (count < 999_950) return `${(count / 1000).toFixed(count < 99_950 ? 1 : 0)}k`;
	return `${(count / 1_000_000).toFixed(1)}M`;
}

/** A span in milliseconds. */
export function toSpan(milliseconds: number): string {
	const seconds = milliseconds / 1000;
	if (seconds < 10) return `${seconds.toFixed(1)} s`;
	if (seconds < 60) return `${Math.round(seconds)} s`;
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
	return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long ago it was; both in milliseconds since the epoch. */
export function toAgo(at: number, now: number): string {
	const seconds = Math.max(0, (now - at) / 1000);
	if (seconds < 60) return "now";
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
	if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
	const days = Math.floor(seconds / 86_400);
	return days < 14 ? `${days} d ago` : new Date(at).toLocaleDateString();
}

export function toMoment(at: number): string {
	return new Date(at).toLocaleString();
}

/** The last name of a path. */
export function baseName(path: string): string {
	return (
		path
			.replace(/[/\\]+$/, "")
			.split(/[/\\]/)
			.at(-1) || path
	);
}

export const plural = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
