/** Of the error with which somebody is refused what another worker should do, because this one ends. */
export const endingData = { isEnding: true } as const;

export function isEnding(data: unknown): boolean {
	return typeof data === "object" && data !== null && "isEnding" in data;
}
