// The form of the program: a package of files for Node, or a single file.

/** Set by the bundler. */
declare const agentwireIsOneFile: boolean | undefined;

/** Whether this is the single-file program, which includes its runtime. */
export const isOneFile: boolean = typeof agentwireIsOneFile === "boolean" && agentwireIsOneFile;

/** Whether this runs on Bun, which differs from Node for pipes and descriptors. */
export const runsOnBun: boolean = process.versions["bun"] !== undefined;
