// Where the running program finds the rest of itself: as a package, files next to it; as one file, what is embedded in it.

/** The installed program, as it finds itself. */
export interface Installation {
	/** Starts this program again: a file, and the arguments before its own. */
	readonly command: readonly [file: string, ...first: string[]];
	/** The skills that come with the program; null when they cannot be had. */
	readonly skillsDir: string | null;
	/** The web page of the gateway, as it was built; null when it cannot be had. */
	readonly pageDir: string | null;
	/** The program of the thread that reads web pages. */
	readonly pageThread: string;
	/** The directory of README.md, CHANGELOG.md and `docs`, whose files can be read there. Throws when there is none. */
	documentsDir(): string;
	/** A file to start, or a name for PATH. */
	findRipgrep(): Promise<string>;
}
