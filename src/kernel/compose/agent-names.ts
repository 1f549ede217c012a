// The names of the agents that need no file.

export const builtInAgentNames = ["default", "okabe"] as const;
export type BuiltInAgentName = (typeof builtInAgentNames)[number];
