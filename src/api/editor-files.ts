// Workspace files as the editor of a client has them.

/** Texts include unsaved changes. Operations the editor lacks use the disk. */
export interface EditorFiles {
	/** The whole text of a file by its absolute path; null if the editor refuses. */
	read?(path: string, signal: AbortSignal): Promise<string | null>;
	write?(path: string, text: string, signal: AbortSignal): Promise<boolean>;
}
