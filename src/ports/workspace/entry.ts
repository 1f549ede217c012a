// State of a path at one moment: a file with content, a link, a directory, or something without stored content.

/** SHA-256 of the bytes, in hex. */
export type ContentId = string;

/** Without `content` its bytes were not read: `unread` says why, and `mark` distinguishes versions. */
export interface FileEntry {
	readonly kind: "file";
	readonly mode: number;
	readonly size: number;
	readonly content: ContentId | null;
	/** The blob with the same bytes in the user's repository, if any. */
	readonly blob?: string;
	readonly unread?: string;
	readonly mark?: string;
}

export type Entry =
	| FileEntry
	| { readonly kind: "link"; readonly target: string }
	| { readonly kind: "directory"; readonly mode: number }
	/** An ignored directory, which is not scanned. */
	| { readonly kind: "opaque" }
	| { readonly kind: "special" };

export interface Stamp {
	readonly size: number;
	readonly mode: number;
	readonly modifiedAt: number;
	readonly changedAt: number;
	readonly inode: number;
}

export interface Change {
	readonly path: string;
	readonly before: Entry | null;
	readonly after: Entry | null;
}

export function isSameEntry(one: Entry | null, other: Entry | null): boolean {
	if (one === null || other === null) return one === other;
	switch (one.kind) {
		case "file":
			if (other.kind !== "file" || one.mode !== other.mode || one.size !== other.size) return false;
			return one.content === null && other.content === null ? one.mark === other.mark : one.content === other.content;
		case "link":
			return other.kind === "link" && one.target === other.target;
		case "directory":
			return other.kind === "directory" && one.mode === other.mode;
		case "opaque":
		case "special":
			return other.kind === one.kind;
	}
}

/** Why the entry cannot be restored, as a clause without a period; null when it can. */
export function whyNotRestorable(entry: Entry | null): string | null {
	if (entry === null) return null;
	if (entry.kind === "opaque") return "git ignores the directory, so its content is not stored";
	if (entry.kind === "special") return "it is neither a file, nor a directory, nor a link";
	return entry.kind === "file" && entry.content === null ? (entry.unread ?? "its content was not stored") : null;
}

export function addContent(entry: Entry | null, needed: Set<ContentId>): void {
	if (entry?.kind === "file" && entry.content !== null) needed.add(entry.content);
}
