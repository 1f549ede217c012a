export const builtInAgentNames = ["default", "okabe"] as const;
export type BuiltInAgentName = (typeof builtInAgentNames)[number];
