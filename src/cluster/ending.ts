// What a worker that ends says to those who use it: which of their requests another worker can be asked.

/** Of the error with which somebody is refused what another worker should do, because this one ends: nothing was done. */
export const endingData = { isEnding: true } as const;

/** Of the error of a request that the end of the worker has met: it may have been carried out. */
export const endedData = { hasEnded: true } as const;

export function isEnding(data: unknown): boolean {
	return typeof data === "object" && data !== null && "isEnding" in data;
}

export function hasEnded(data: unknown): boolean {
	return typeof data === "object" && data !== null && "hasEnded" in data;
}
