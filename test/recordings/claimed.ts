/** Which recordings we claim to read. The others are replayed too: they must not crash, and what they give is shown but not counted. */
import type { ExpectedRecording } from './expected.ts';

interface NotClaimed {
  readonly dialect: string;
  /** Absent: every scenario of the dialect. */
  readonly scenario?: string;
  readonly because: string;
}

export const notClaimed: readonly NotClaimed[] = [
  { dialect: 'openinference+google-adk', because: 'three model calls leave one span, and no byte tells the tokens of the first two' },
];

export function isClaimed(recording: ExpectedRecording): boolean {
  return !notClaimed.some(
    ({ dialect, scenario }) => dialect === recording.dialect && (scenario === undefined || scenario === recording.scenario),
  );
}
