// A fetched web page and its text. Types only, because the DOM types of the page reader clash with browser types.
export interface PageText {
	readonly title: string | null;
	readonly markdown: string;
}

export interface PageSource {
	readonly body: Uint8Array;
	/** As sent by the server; null without a header. */
	readonly contentType: string | null;
	readonly url: string;
}
