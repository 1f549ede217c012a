interface Node {
	readonly scope?: string;
	readonly children: readonly (string | Node)[];
}

export declare const library: {
	getLanguage(name: string): object | undefined;
	highlight(
		text: string,
		options: { readonly language: string; readonly ignoreIllegals: boolean },
	): { readonly _emitter: { readonly rootNode: Node } };
};
