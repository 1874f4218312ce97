/** Which recordings we claim to read. The others are played too: they must not crash, and what they give is shown but not counted. */
import type { ExpectedRecording } from './expected.ts';

interface NotClaimed {
  readonly dialect: string;
  /** Absent: every scenario of the dialect. */
  readonly scenario?: string;
  /** True: only runs that are spread over several traces. */
  readonly split?: boolean;
  readonly because: string;
}

export const notClaimed: readonly NotClaimed[] = [
  { dialect: 'traceloop', split: true, because: 'its LangChain package gives every span a trace of its own, and no tool its name' },
  { dialect: 'autogen-core', scenario: 'handoff', because: 'one run is spread over 18 traces that only span links join' },
  { dialect: 'openinference+google-adk', because: 'three model calls leave one span, whose tokens are those of the last' },
  { dialect: 'strands', scenario: 'multiturn', because: 'definitions of tools that a turn does not call stand in the traces of other turns' },
];

export function isClaimed(recording: ExpectedRecording): boolean {
  const isSplit = recording.traces.some((trace) => trace.split_over_otlp_traces !== undefined);
  return !notClaimed.some(({ dialect, scenario, split = isSplit }) => dialect === recording.dialect && split === isSplit && (scenario === undefined || scenario === recording.scenario));
}
