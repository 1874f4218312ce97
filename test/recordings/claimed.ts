/** Which recordings we claim to read. The others are played too: they must not crash, and what they give is shown but not counted. */
import type { ExpectedRecording } from './expected.ts';

const claimedDialects: ReadonlySet<string> = new Set(['card', 'openinference', 'otel-genai', 'vercel-ai-sdk', 'vercel-ai-sdk-otel', 'openinference+pydantic-ai']);

/** Runs that are spread over several traces need sessions, which a later release brings. */
export function isClaimed(recording: ExpectedRecording): boolean {
  return claimedDialects.has(recording.dialect) && recording.traces.every((trace) => trace.split_over_otlp_traces === undefined);
}
