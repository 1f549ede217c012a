/**
 * The name, with a number after it where it is among the used ones, to which it is added. Shortened before the number if it
 * would have more than `longest` characters.
 */
export function takeUnusedName(name: string, used: Set<string>, longest = Number.POSITIVE_INFINITY): string {
	let unused = name;
	for (let number = 2; used.has(unused); number++) {
		const end = `_${number}`;
		unused = name.slice(0, longest - end.length) + end;
	}
	used.add(unused);
	return unused;
}
