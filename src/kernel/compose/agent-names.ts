// The names of the built-in agents.

export const builtInAgentNames = ["default", "okabe"] as const;
export type BuiltInAgentName = (typeof builtInAgentNames)[number];
