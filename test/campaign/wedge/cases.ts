// All cases of the wedge campaign.
import type { Case } from "./case.ts";
import { modelCases } from "./cases-answers.ts";
import { definitionCases } from "./cases-definitions.ts";
import { fileCases } from "./cases-files.ts";
import { mcpCases } from "./cases-mcp.ts";
import { protocolCases } from "./cases-protocol.ts";
import { schemaCases } from "./cases-schemas.ts";
import { searchCases } from "./cases-search.ts";
import { shellAndHookCases } from "./cases-shell.ts";
import { storedAndMediaCases } from "./cases-stored.ts";
import { webCases } from "./cases-web.ts";

export const wedgeCases: readonly Case[] = [
	...searchCases,
	...fileCases,
	...storedAndMediaCases,
	...shellAndHookCases,
	...webCases,
	...definitionCases,
	...mcpCases,
	...schemaCases,
	...protocolCases,
	...modelCases,
];
