/** The release of Codex whose lines and requests are served. */
export const codexProtocolVersion = "0.171.0";
