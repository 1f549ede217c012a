import { describeSessions } from "../../../test/contracts/sessions-contract.ts";

describeSessions("in this process", async (sessions) => sessions);
