/** Case 62: runs of an experiment that die of a provider's error are named, and the report does not pass beside them. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from '../cli/experiment/command.ts';

const agent = ['--', process.execPath, join(import.meta.dirname, 'quota-agent.ts')];
/** One example passes, and nothing but the end of the run shows that the other failed. */
const dataset =
  '- { id: a, input: number one, evaluators: [{ use: output_contains, options: { text: done } }] }\n- { id: b, input: number two, evaluators: [tool_error] }\n';

test.each([
  { mode: 'fine', isFailed: false },
  { mode: 'recovered', isFailed: false },
  { mode: 'model', isFailed: true },
  { mode: 'root', isFailed: true },
  { mode: 'later_request', isFailed: true },
  { mode: 'error_type', isFailed: true },
  { mode: 'finish_reason', isFailed: true },
])('field cases: an experiment whose provider answers as in “$mode” fails: $isFailed', async ({ mode, isFailed }) => {
  const place = workplace();
  const words = ['experiment', 'run', '--dataset', place.file('dataset.yaml', dataset), '--name', 'n'];
  const { code, out } = await place.tracejury([...words, ...agent], { MODE: mode });
  expect([code, /^ {2}b {2}run_error$/m.test(out), /^PASSED/m.test(out)]).toEqual([isFailed ? 1 : 0, isFailed, !isFailed]);
});

test('field cases: a gate that lets such a run pass names it beside PASSED', async () => {
  const place = workplace();
  const words = ['experiment', 'run', '--dataset', place.file('dataset.yaml', dataset), '--name', 'n', '--fail-under', 'completed=0.5'];
  const { code, out } = await place.tracejury([...words, ...agent], { MODE: 'model' });
  expect([code, /^PASSED, though 1 example failed: b/m.test(out)]).toEqual([0, true]);
});
