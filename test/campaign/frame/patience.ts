// Waiting for what may never come.

/** What the promise gives, or undefined after that many milliseconds. */
export async function withPatience<T>(promise: Promise<T>, patience: number): Promise<T | undefined> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<undefined>((resolve) => {
		timer = setTimeout(() => resolve(undefined), patience);
	});
	return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
