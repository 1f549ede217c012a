// The library for tests of programs that embed the kernel, `agentwire/testing`.
export { type ScriptedAnswer, type ScriptedAnswers, type ScriptedModel, scriptedModel } from "../index.ts";
export { type RecordedAgent, type RecordedAgentOptions, recordedAgent } from "./recorded-agent.ts";
export { type ScriptedAgent, type ScriptedAgentOptions, scriptedAgent } from "./scripted-agent.ts";
export { expectTranscript, type TranscriptOptions, transcriptOf } from "./transcript.ts";
