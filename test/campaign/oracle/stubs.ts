// The programs that scripts of the oracle campaign run, which do nothing but log how they were called.

export const stubs = ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "rm", "git", "curl", "ls"] as const;
