// The formats of print mode's input and output.

export const printFormats = ["text", "stream-json"] as const;
export type PrintFormat = (typeof printFormats)[number];
