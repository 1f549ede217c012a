// Makes a text that fails smaller, while it still fails.

/** Removes pieces of halving sizes for as long as `fails` holds for what is left, and time remains. */
export async function shrinkText(
	text: string,
	fails: (text: string) => Promise<boolean>,
	milliseconds: number,
): Promise<string> {
	const deadline = performance.now() + milliseconds;
	let characters = [...text];
	for (let size = Math.max(1, characters.length >> 1); ; ) {
		let hasShrunk = false;
		for (let at = 0; at < characters.length && performance.now() < deadline; ) {
			const shorter = characters.toSpliced(at, size);
			if (await fails(shorter.join(""))) {
				characters = shorter;
				hasShrunk = true;
			} else {
				at += size;
			}
		}
		if (performance.now() >= deadline || (size === 1 && !hasShrunk)) return characters.join("");
		size = Math.max(1, size >> 1);
	}
}
