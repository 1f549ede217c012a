export const codexProtocolVersion = "0.171.0";
