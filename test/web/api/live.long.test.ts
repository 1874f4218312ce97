/** The live list of a service with shards. */
import { expect, test } from 'vitest';
import { live, started } from '../../service/live-stream.ts';
import { sendAgentRun } from '../../service/running.ts';

test('live: runs that shards score come once each', async () => {
  const service = await started('shards: 2\n');
  const [all, failing] = [await live(service), await live(service, '?verdict=fail')];
  const sent = new Set<string>();
  for (let at = 0; at < 8; at++) sent.add((await sendAgentRun(service.otlp, { fails: at === 7 })).traceId);
  expect(sent).toContain((await failing.next('run'))['trace_id']);
  const seen = new Set<string>();
  while (seen.size < sent.size) seen.add(String((await all.next('run'))['trace_id']));
  expect(seen).toEqual(sent);
  expect(failing.seen().match(/event: run/g)).toHaveLength(1);
});
