/** Bodies written from documentation, where no recording of a dialect exists: read as the pages say that the agent ran. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { AgentTrace, Run } from '../../src/model/agent-trace.ts';
import { differences } from '../recordings/compare.ts';
import { play, recordingsIn, type Recording } from '../recordings/read.ts';

export const documentedRecordings: readonly Recording[] = recordingsIn(fileURLToPath(new URL('../fixtures/documented', import.meta.url)));

interface Look {
  readonly of: (trace: AgentTrace | undefined, runs: readonly Run[]) => unknown;
  readonly is: unknown;
}

/** A test for each scenario in the folder; `looks` see the first run for what the comparison does not hold. */
export function testDocumented(folder: string, looks: { readonly [scenario: string]: Look } = {}): void {
  const own = documentedRecordings.filter(({ name }) => name.startsWith(`${folder}/`));
  test(`${folder}: has scenarios written from documentation, and each that is looked at is there`, () => {
    expect(own.length).toBeGreaterThan(0);
    expect(Object.keys(looks).filter((scenario) => !own.some(({ name }) => name === `${folder}/${scenario}`))).toEqual([]);
  });
  for (const recording of own) {
    test(`${recording.name}: is read as documented`, () => {
      const replayed = play(recording);
      expect(replayed.spans).toBe(recording.expected.decoded.spans);
      expect(differences(recording.expected, replayed.runs)).toEqual([]);
      const look = looks[recording.expected.scenario];
      expect(look?.of(replayed.runs[0]?.trace, replayed.runs)).toEqual(look?.is);
    });
  }
}
