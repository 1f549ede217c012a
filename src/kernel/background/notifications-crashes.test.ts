// Notifications of a task survive a crash at any point, whatever a power loss takes with it.
import { it } from "vitest";
import { checkEveryCrash, losses } from "../../../test/support/sessions/notified-session.ts";

it.each(["before", "after"] as const)(
	"a notification survives a crash %s any write, and any loss",
	{ timeout: 60_000 },
	(when) => checkEveryCrash(when, () => losses),
);
