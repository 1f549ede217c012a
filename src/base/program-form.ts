// Which of its two forms the program has: a package of files that Node runs, or one file with everything in it.

/** Set by the bundler. */
declare const agentwireIsOneFile: boolean | undefined;

/** Whether this program is one file, which contains its runtime, and has no other files. */
export const isOneFile: boolean = typeof agentwireIsOneFile === "boolean" && agentwireIsOneFile;

/** Whether Bun runs this, which is not Node where it comes to pipes and descriptors. */
export const runsOnBun: boolean = process.versions["bun"] !== undefined;
