export interface PageText {
	readonly title: string | null;
	readonly markdown: string;
}

export interface PageSource {
	readonly body: Uint8Array;
	readonly contentType: string | null;
	readonly url: string;
}
