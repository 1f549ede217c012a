export interface PageNode {
	readonly parentNode: PageElement | null;
	readonly nextSibling: PageNode | null;
	textContent: string;
	remove(): void;
}

export interface PageElement extends PageNode {
	readonly nodeName: string;
	appendChild(node: PageNode): unknown;
	cloneNode(deep: true): PageElement;
	getAttribute(name: string): string | null;
	setAttribute(name: string, value: string): void;
	/** In document order; not a live list. */
	querySelectorAll(selector: string): readonly PageElement[];
}

export interface PageDocument {
	readonly head: PageElement;
	readonly body: PageElement;
	createElement(name: string): PageElement;
	createTextNode(text: string): PageNode;
}
