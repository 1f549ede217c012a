// Hostile texts of a given length, for cases of the wedge campaign.

/** `piece` again and again, cut to exactly this length. */
export function fill(piece: string, length: number): string {
	return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** `open` and `close` around nothing, as deep as the length allows. */
export function nest(open: string, close: string, length: number, inside = ""): string {
	const depth = Math.floor((length - inside.length) / (open.length + close.length));
	return open.repeat(depth) + inside + close.repeat(depth);
}

/** Distinct items, joined, up to this length. */
export function list(length: number, item: (number: number) => string, separator: string): string {
	const items: string[] = [];
	for (let total = 0, number = 0; ; number += 1) {
		const text = item(number);
		total += text.length + separator.length;
		if (total > length && number > 0) return items.join(separator);
		items.push(text);
	}
}

/** An object with as many members as fit into the length. */
export function manyKeys(length: number): string {
	return `{${list(length - 2, (number) => `"k${number}":${number}`, ",")}}`;
}
