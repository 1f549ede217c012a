// A web page as it is read, and its text. Types only: what reads pages has types of documents that those of a browser clash with.
export interface PageText {
	readonly title: string | null;
	readonly markdown: string;
}

/** A page as received. */
export interface PageSource {
	readonly body: Uint8Array;
	/** As sent by the server; null without a header. */
	readonly contentType: string | null;
	/** Its address. */
	readonly url: string;
}
