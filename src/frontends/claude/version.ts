export const protocolRelease = "2.1.332";

/** Clients need a version first. */
export const claudeVersionText = `${protocolRelease} (agentwire)`;
