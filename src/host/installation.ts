export interface Installation {
	/** Command line that restarts this program: a file and leading arguments. */
	readonly command: readonly [file: string, ...first: string[]];
	/** Skills shipped with the program; null if unavailable. */
	readonly skillsDir: string | null;
	/** The built web page of the gateway; null if unavailable. */
	readonly pageDir: string | null;
	readonly pageThread: string;
	/** The directory with README.md, CHANGELOG.md and `docs`. Throws if unavailable. */
	documentsDir(): string;
	/** A file path, or a name to find on PATH. */
	findRipgrep(): Promise<string>;
}
