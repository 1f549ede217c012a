/** Adds a number suffix if necessary, shortens to `longest`, and adds the name to `used`. */
export function takeUnusedName(name: string, used: Set<string>, longest = Number.POSITIVE_INFINITY): string {
	let unused = name;
	for (let number = 2; used.has(unused); number++) {
		const end = `_${number}`;
		unused = name.slice(0, longest - end.length) + end;
	}
	used.add(unused);
	return unused;
}
