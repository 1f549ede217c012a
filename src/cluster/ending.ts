// Error data from an ending worker: which requests can be sent to another worker.

/** Error data of a refused request: the worker is ending and did nothing. */
export const endingData = { isEnding: true } as const;

/** Error data of a request interrupted by the worker's end: it may have been executed. */
export const endedData = { hasEnded: true } as const;

export function isEnding(data: unknown): boolean {
	return typeof data === "object" && data !== null && "isEnding" in data;
}

export function hasEnded(data: unknown): boolean {
	return typeof data === "object" && data !== null && "hasEnded" in data;
}
