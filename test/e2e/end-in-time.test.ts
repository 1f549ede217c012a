// The two seconds of an end, when something of ours does not play along.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, vi } from "vitest";
import { createStage } from "../support/executable.ts";

/** More than fits between the server and a client that does not read: its end takes a while. */
const longScript = Array.from({ length: 20_000 }, (_, n) => `text: part ${n} of a long answer`).join("\n");

it("is kept to when the event loop gets stuck after it began", async () => {
	const stage = createStage({ scripts: [longScript] });
	const preload = path.join(stage.shareDir, "stuck.cjs");
	const sign = path.join(stage.shareDir, "sign");
	writeFileSync(
		preload,
		`const look = setInterval(() => { if (require("node:fs").existsSync(${JSON.stringify(sign)})) for (;;); }, 20); look.unref();`,
	);
	const server = stage.serveWith({ NODE_OPTIONS: `--require ${preload}` }, "--wire", "--session", "s");
	server.prompt("hi");
	await server.message("ContentPart");
	server.pause();
	const before = performance.now();
	server.kill("SIGTERM");
	// The end has begun.
	await vi.waitFor(() => expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd"), { timeout: 1500, interval: 20 });
	writeFileSync(sign, "");
	expect(await server.gone).toBeNull();
	expect(performance.now() - before).toBeLessThan(2500);
	expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
});
