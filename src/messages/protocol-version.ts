// The version of Kimi's vocabulary that we speak, write into logs, and tell clients whatever they ask for.

export const protocolVersion = "1.10";
