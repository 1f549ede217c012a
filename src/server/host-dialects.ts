// The dialects of many sessions, in a file of their own: a start that does not offer them does not load them.
import type { HostDialect } from "../dialects/dialect.ts";
import { meerkatDialect } from "../dialects/meerkat/dialect.ts";

export const hostDialects: readonly HostDialect[] = [meerkatDialect];
