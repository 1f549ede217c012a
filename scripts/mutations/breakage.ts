// A deliberate breakage of the product: one line of its code, changed.

export interface Breakage {
	/** In a few words what the product does wrong with it. */
	readonly name: string;
	/** Below src/. */
	readonly file: string;
	/** In its file exactly once. */
	readonly find: string;
	readonly replace: string;
}
