/** `tracejury kafka`: the topic of `journal.url`. */
import { existsSync } from 'node:fs';
import { evaluators } from '../../../evaluators/index.ts';
import type { Config } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import { makeTopic, topicEnds, type NewTopic } from '../../journals/kafka/topic.ts';
import { kafkaAddress, kafkaName } from '../../journals/kafka/address.ts';
import { jsonText } from '../../model/json.ts';
import { quantityOf } from '../../model/quantities.ts';
import type { OwnedPartition } from '../../model/store/journal-partition-store.ts';
import { replicaName } from '../../model/store/replica-store.ts';
import { type Action, commandOfActions } from '../actions.ts';
import { type CommandInput, type CommandProgram, type ExitCode, numberOption, reportFormat, textOption, UsageError } from '../command.ts';
import { configOption, formatOption } from '../common-options.ts';
import { withStore } from '../open-store.ts';

const partitionsUsual = 12;
const partitionsMax = 10_000;
const copiesMax = 10;
const retentionUsual = '7d';

const actions: readonly Action[] = [
  {
    name: 'init',
    usage: '[--partitions N] [--copies N] [--retention TIME] [--yes] -c FILE',
    summary: 'Shows the topic that it would make, and makes it with --yes.',
    options: ['partitions', 'copies', 'retention', 'yes', 'config'],
    examples: [
      { does: 'Makes a topic for up to 24 replicas:', line: 'tracejury kafka init --partitions 24 --copies 3 --yes -c tracejury.yaml' },
    ],
    argumentsMax: 0,
    run: init,
  },
  {
    name: 'status',
    usage: '[--format text|json] -c FILE',
    summary: 'Shows the owner of each partition, how far it is, and how many records wait. Exits with 1 when a partition has no owner.',
    options: ['format', 'config'],
    examples: [{ does: 'Shows how far the replicas are:', line: 'tracejury kafka status -c tracejury.yaml' }],
    argumentsMax: 0,
    run: status,
  },
  {
    name: 'move',
    usage: '--from FOLDER -c FILE',
    summary:
      'Sends the open runs of a journal on the disk to the topic, while no service uses the journal, and deletes it. A journal with a request that the topic refuses is kept, and the exit code is 1.',
    options: ['from', 'config'],
    examples: [
      {
        does: 'Hands the open runs of a service on one machine to replicas:',
        line: 'tracejury kafka move --from tracejury-data/journal -c tracejury.yaml',
      },
    ],
    argumentsMax: 0,
    run: move,
  },
];

export const kafka: CommandProgram = {
  ...commandOfActions(actions),
  examples: [{ does: 'Shows the topic that would be made:', line: 'tracejury kafka init -c tracejury.yaml' }],
  options: {
    partitions: { type: 'string', value: 'N', summary: `divides the topic into this number of partitions (default: ${partitionsUsual})` },
    copies: { type: 'string', value: 'N', summary: 'keeps each record on this number of brokers (default: 1)' },
    retention: { type: 'string', value: 'TIME', summary: `keeps records for this time, as 12h or 7d (default: ${retentionUsual})` },
    yes: { type: 'boolean', summary: 'makes the topic' },
    from: { type: 'string', value: 'FOLDER', summary: 'moves the journal in this folder, as in disk:FOLDER' },
    format: formatOption('writes text (default) or one JSON object', 'text|json'),
    config: configOption('reads journal.url and store.url of this configuration'),
  },
};

async function init(input: CommandInput): Promise<ExitCode> {
  const { config } = await readConfig({ file: textOption(input, 'config'), env: input.env, evaluators });
  const address = topicOf(config);
  const retention = textOption(input, 'retention') ?? retentionUsual;
  const retentionMs = quantityOf('duration', retention);
  if (retentionMs === undefined) throw new UsageError('--retention takes a time, as 12h or 7d.');
  const topic: NewTopic = {
    partitions: Math.floor(numberOption(input, 'partitions', partitionsMax) ?? partitionsUsual),
    copies: Math.floor(numberOption(input, 'copies', copiesMax) ?? 1),
    retentionMs,
    // The records of one request may be larger than the request was.
    recordBytesMax: config.limits.inflatedBytes * 2,
  };
  input.say(
    [
      `Topic        ${kafkaName(config.journal.rest)}`,
      `Partitions   ${topic.partitions}: at most as many replicas gather at the same time`,
      `Copies       ${topic.copies}`,
      `Retention    ${retention}: records that no replica gathers in this time are lost`,
      `Records      up to ${topic.recordBytesMax} bytes`,
    ].join('\n'),
  );
  if (input.options['yes'] !== true) {
    input.say('Nothing was made. Add --yes to make the topic.');
    return 0;
  }
  const outcome = await makeTopic(config.journal.rest, address, topic);
  if (outcome === 'made') input.say('The topic is made.');
  else input.complain(outcome === 'exists' ? 'The topic is there already, and nothing was changed.' : `${outcome.cause} ${outcome.todo}`);
  return outcome === 'made' ? 0 : 1;
}

async function status(input: CommandInput): Promise<ExitCode> {
  const format = reportFormat(input);
  return await withStore(input, { instead: 'Ask the console: /api/v1/replicas.' }, async ({ store, config }) => {
    const address = topicOf(config);
    const [rows, replicas] = [await store.journalPartitions.list(), await store.replicas.list()];
    const found = await topicEnds(config.journal.rest, address);
    if (!('ends' in found)) {
      input.complain(`${found.cause} ${found.todo}`);
      return 1;
    }
    const hosts = replicaNames(replicas);
    const own = new Map(rows.filter(({ topic }) => topic === found.name).map((row) => [row.partition, row]));
    const partitions = found.ends.map((end, partition) => statusOf(own.get(partition), { partition, end, hosts }));
    input.say(
      format === 'json' ? jsonText({ topic: address.topic, partitions: partitions.map((one) => ({ ...one })) }) : statusText(partitions),
    );
    return partitions.every(({ owner }) => owner !== null) ? 0 : 1;
  });
}

async function move(input: CommandInput): Promise<ExitCode> {
  const { config } = await readConfig({ file: textOption(input, 'config'), env: input.env, evaluators });
  topicOf(config);
  const folder = textOption(input, 'from');
  if (folder === undefined || !existsSync(folder))
    throw new UsageError('--from takes the folder of a journal, such as tracejury-data/journal.');
  const { moveJournal } = await import('../../service/move-journal.ts');
  const { requests, kept } = await moveJournal(folder, config);
  input.say(`Sent ${requests} ${requests === 1 ? 'request' : 'requests'} of open runs to the topic.`);
  for (const journal of kept)
    input.complain(
      `${journal.folder} is kept: ${journal.requests} of its requests were refused. ${journal.reason ?? 'It has records that a service had set aside.'}`,
    );
  return kept.length === 0 ? 0 : 1;
}

/** Hosts by the ids of their replicas. Where several share a host, each has the begin of its id as well. */
export function replicaNames(replicas: readonly { readonly id: string; readonly host: string }[]): ReadonlyMap<string, string> {
  const onHost = Map.groupBy(replicas, ({ host }) => host);
  return new Map(replicas.map((one) => [one.id, (onHost.get(one.host)?.length ?? 0) > 1 ? replicaName(one) : one.host]));
}

interface PartitionStatus {
  readonly partition: number;
  /** Name of the replica; null: no replica that is there has it. */
  readonly owner: string | null;
  readonly end: number;
  readonly read: number;
  /** Records that no replica has read. */
  readonly waiting: number;
  /** Records from the lowest needed one on, read or not. */
  readonly needed: number;
}

function statusOf(
  row: OwnedPartition | undefined,
  { partition, end, hosts }: { readonly partition: number; readonly end: number; readonly hosts: ReadonlyMap<string, string> },
): PartitionStatus {
  const [read, next] = [Math.max(0, row?.read ?? 0), Math.max(0, row?.next ?? 0)];
  // A store that one process uses has no list of processes.
  const owner = row === undefined || hosts.size > 0 ? hosts.get(row?.owner ?? '') : row.owner;
  return { partition, owner: owner ?? null, end, read, waiting: Math.max(0, end - read), needed: Math.max(0, end - next) };
}

function statusText(partitions: readonly PartitionStatus[]): string {
  const head = ['partition', 'waiting', 'needed', 'owner'];
  const rows = partitions.map(({ partition, waiting, needed, owner }) => [`${partition}`, `${waiting}`, `${needed}`, owner ?? 'none']);
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at < 3 ? cell.padStart(widths[at] ?? 0) : cell))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}

function topicOf({ journal }: Config): NonNullable<ReturnType<typeof kafkaAddress>> {
  const address = journal.scheme === 'kafka' ? kafkaAddress(journal.rest) : undefined;
  if (address === undefined)
    throw new UsageError('journal.url names no topic of Kafka. Write journal: { url: kafka://host:9092/otlp_spans }.');
  return address;
}
