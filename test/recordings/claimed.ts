/** Which recordings we claim to read. The others are played too: they must not crash, and what they give is shown but not counted. */
import type { ExpectedRecording } from './expected.ts';

interface NotClaimed {
  readonly dialect: string;
  /** Absent: every scenario of the dialect. */
  readonly scenario?: string;
  readonly because: string;
}

const notClaimed: readonly NotClaimed[] = [
  { dialect: 'autogen-core', scenario: 'handoff', because: 'one run is spread over 18 traces that only span links join' },
  { dialect: 'openinference+google-adk', because: 'three model calls leave one span, whose tokens are those of the last' },
  { dialect: 'strands', scenario: 'multiturn', because: 'definitions of tools that a turn does not call stand in the traces of other turns' },
];

/** Runs that are spread over several traces need sessions, which a later release brings. */
export function isClaimed(recording: ExpectedRecording): boolean {
  if (recording.traces.some((trace) => trace.split_over_otlp_traces !== undefined)) return false;
  return !notClaimed.some(({ dialect, scenario }) => dialect === recording.dialect && (scenario === undefined || scenario === recording.scenario));
}
