/** A service whose judge is looked at by a fixed set. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { eventually, running, sample } from './running.ts';

test('drift: the set is asked about past the cache, and the look is there after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-drift-service-'));
  const judge = await chatServer(says('{"explanation":"So it is.","label":"yes"}'));
  onTestFinished(async () => {
    await judge.close();
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'set.jsonl'), '{"input": "Is anybody there?", "final_response": "Yes, please."}');
  const entry = (name: string): string =>
    `{ use: custom_judge, name: ${name}, judge: main, options: { template: "Is {{final_response}} polite?", labels: { yes: 1, no: 0 } }, threshold: 1, drift: { dataset: set.jsonl } }`;
  const yaml = `evaluators: [ ${entry('first')}, ${entry('second')} ]\njudges: { main: { base_url: "${judge.baseUrl}", model: small } }\nstore: { url: "sqlite:${join(folder, 'store.db')}" }\n`;
  const looked = async (): Promise<readonly JsonObject[]> => {
    const service = await running(yaml, { file: join(folder, 'tracejury.yaml') });
    try {
      const drift = await eventually(async () => {
        const { drift: told } = (await (await fetch(`${service.console}/api/v1/judges`)).json()) as {
          readonly drift: readonly { readonly looks: readonly JsonObject[] }[];
        };
        return told.length === 2 && told.every(({ looks: [look] }) => look?.['state'] === 'kept') ? told : undefined;
      }, 'two looks');
      await eventually(
        async () =>
          sample(await service.metrics(), 'tracejury_judge_drift_ratio', { gen_ai_evaluation_name: 'second' }) === 0 ? true : undefined,
        'the gauge',
      );
      return drift;
    } finally {
      await service.stop();
    }
  };
  const before = await looked();
  expect(before).toMatchObject([
    {
      name: 'first',
      evaluator: 'custom_judge',
      model: 'small',
      threshold: 1,
      baseline: { number: 1, because: [] },
      shown: 'no_change_shown',
      looks: [{ look: 0, state: 'kept', runs: 1, passed: 1, failed: 0, without: 0, word: null, flipped: { point: null } }],
    },
    { name: 'second' },
  ]);
  // The same question about the same text: a cache would have answered the second.
  expect(judge.requests).toHaveLength(2);
  expect(await looked()).toEqual(before);
  expect(judge.requests).toHaveLength(2);
});
