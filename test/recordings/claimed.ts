/** The recordings that the project claims to read. The others are replayed too: they must not crash, and their results are shown but not counted. */
import type { ExpectedRecording } from './expected.ts';

interface NotClaimed {
  readonly dialect: string;
  /** Every scenario of the dialect when left out. */
  readonly scenario?: string;
  readonly because: string;
}

export const notClaimed: readonly NotClaimed[] = [
  { dialect: 'openinference+google-adk', because: 'three model calls leave one span, and no byte has the tokens of the first two' },
];

export function isClaimed(recording: ExpectedRecording): boolean {
  return !notClaimed.some(
    ({ dialect, scenario }) => dialect === recording.dialect && (scenario === undefined || scenario === recording.scenario),
  );
}
