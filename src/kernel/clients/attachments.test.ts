import { describeAttachments } from "../../../test/contracts/attachment-contract.ts";

describeAttachments("in this process", async (session) => session);
