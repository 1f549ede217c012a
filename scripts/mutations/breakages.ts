// All deliberate breakages, each of which the fast tests have to notice.
import type { Breakage } from "./breakage.ts";
import { agent } from "./breakages/agent.ts";
import { gateway } from "./breakages/gateway.ts";
import { hooks } from "./breakages/hooks.ts";
import { kernel } from "./breakages/kernel.ts";
import { permissions } from "./breakages/permissions.ts";
import { protocols } from "./breakages/protocols.ts";
import { store } from "./breakages/store.ts";
import { tools } from "./breakages/tools.ts";

export const breakages: readonly Breakage[] = [
	...protocols,
	...agent,
	...kernel,
	...store,
	...hooks,
	...tools,
	...permissions,
	...gateway,
];
