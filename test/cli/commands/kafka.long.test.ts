/** `tracejury kafka move`: open runs of one machine go on in a replica. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../../builders/command.ts';
import { halves } from '../../builders/gen-ai-spans.ts';
import { kafkaBroker } from '../../builders/kafka.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { serviceFolder, type ServiceFolder } from '../../service/process.ts';
import { eventually } from '../../service/running.ts';

function folderOf(options: Parameters<typeof serviceFolder>[0]): ServiceFolder {
  const folder = serviceFolder(options);
  onTestFinished(() => folder.remove());
  return folder;
}

const config = ({ path }: ServiceFolder): string => join(path, 'tracejury.yaml');

test('kafka move: a run that was open on one machine is whole in a replica, and the journal goes', async () => {
  const broker = await kafkaBroker();
  const topic = await broker.topic(2);
  const [one, replica] = [
    folderOf({}),
    folderOf({ store: await emptyPostgres(), journal: `kafka://${broker.address}/${topic}?group=${topic}` }),
  ];
  const [first, second] = halves(1);
  const single = await one.start();
  expect(await single.send(first)).toBe(200);
  await single.end('SIGTERM');
  const journal = join(one.path, 'journal');
  expect(await command(['kafka', 'move', '--from', journal, '-c', config(replica)])).toEqual({
    code: 0,
    out: 'Sent 1 request of open runs to the topic.',
    err: '',
  });
  expect(existsSync(journal)).toBe(false);
  const service = await replica.start();
  await eventually(async () => ((await fetch(`${service.console}/readyz`)).status === 200 ? true : undefined), 'a replica that is ready', {
    everyMs: 100,
    looksMax: 600,
  });
  expect(await service.send(second)).toBe(200);
  const [run, ...others] = await eventually(async () => {
    const runs = await service.runs();
    return runs.length > 0 ? runs : undefined;
  }, 'the run');
  expect([run?.['completeness'], others]).toEqual(['complete', []]);
});

test('kafka move: what cannot be moved is named', async () => {
  const folder = folderOf({ journal: 'kafka://127.0.0.1:1/none' });
  const missing = await command(['kafka', 'move', '--from', join(folder.path, 'nowhere'), '-c', config(folder)]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--from takes the folder of a journal')]);
  const disk = folderOf({});
  const noTopic = await command(['kafka', 'move', '--from', disk.path, '-c', config(disk)]);
  expect([noTopic.code, noTopic.err]).toEqual([2, expect.stringContaining('journal.url names no topic of Kafka')]);
});
