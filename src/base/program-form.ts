declare const agentwireIsOneFile: boolean | undefined;

export const isOneFile: boolean = typeof agentwireIsOneFile === "boolean" && agentwireIsOneFile;

export const runsOnBun: boolean = process.versions["bun"] !== undefined;
