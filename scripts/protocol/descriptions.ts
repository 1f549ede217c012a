// Every dialect that is described: one entry each, and its document and its JSON Schema follow.
import { acp } from "./acp.ts";
import { acpDraft } from "./acp-draft.ts";
import { codex } from "./codex.ts";
import type { ProtocolDescription } from "./description.ts";
import { kimiWire } from "./kimi-wire.ts";
import { legacy } from "./legacy.ts";
import { meerkat } from "./meerkat.ts";

export const descriptions: readonly ProtocolDescription[] = [acp, acpDraft, codex, kimiWire, legacy, meerkat];
